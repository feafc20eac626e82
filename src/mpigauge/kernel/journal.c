/* journal - what rank 0 writes: one JSON object a line, each flushed, launch facts first. */
#include "kernel.h"
#include "pairs.h"

#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER_BYTES = 1 << 20 };

static const int64_t quiet_ns = 1000000000;

static FILE   *journal;
static int64_t last_line_ns;
static int64_t current_visit;
static char *kept; /* of a leader that is not rank 0: its lines, where the journal goes meanwhile */
static size_t kept_bytes;
static char   buffer[BUFFER_BYTES]; /* a line leaves in one piece, not to be torn by other output */

void mg_journal_open(const char *path)
{
    int rank = 0;

    MG_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    if (rank != 0)
        return;
    journal = strcmp(path, "-") == 0 ? stdout : fopen(path, "a");
    if (journal == NULL)
        MG_DIE("cannot write the journal %s", path);
    (void) setvbuf(journal, buffer, _IOFBF, sizeof buffer);
}

void mg_journal_close(void)
{
    if (journal != NULL && journal != stdout)
        (void) fclose(journal);
    journal = NULL;
}

static void end_line(void)
{
    (void) fputc('\n', journal);
    last_line_ns = mg_now_ns();
    if (fflush(journal) != 0)
        MG_DIE("the journal cannot be written any more: is the disk full?");
}

void mg_journal_string(FILE *out, const char *text)
{
    (void) fputc('"', out);
    for (const unsigned char *at = (const unsigned char *) text; *at != '\0'; at++) {
        if (*at == '"' || *at == '\\')
            (void) fprintf(out, "\\%c", *at);
        else if (*at < 0x20 || *at > 0x7e) /* byte by byte: also right where it is not UTF-8 */
            (void) fprintf(out, "\\u%04x", *at);
        else
            (void) fputc(*at, out);
    }
    (void) fputc('"', out);
}

static void put_string(const char *key, const char *text)
{
    (void) fprintf(journal, "\"%s\":", key);
    mg_journal_string(journal, text);
}

static void put_array(const char *key, const int64_t *values, int count)
{
    (void) fprintf(journal, ",\"%s\":[", key);
    for (int i = 0; i < count; i++)
        (void) fprintf(journal, i > 0 ? ",%" PRId64 : "%" PRId64, values[i]);
    (void) fputc(']', journal);
}

/* ---- Facts of the launch --------------------------------------------------------------------- */

struct rank_facts {
    char                  host[MG_NAME_BYTES];
    char                  cpus[MG_NAME_BYTES]; /* where it may run: "0-3,8" */
    int                   cpu;                 /* where it ran when asked */
    struct mg_clock_facts clock;
};

/* The CPU set in the notation of the kernel's cpulists, as far as there is room. */
static void allowed_cpus(char *text, size_t bytes)
{
    cpu_set_t set;
    size_t    at = 0;

    text[0] = '\0';
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return;
    for (size_t cpu = 0; cpu < CPU_SETSIZE && at + 24 < bytes; cpu++) {
        size_t last = cpu;

        if (!CPU_ISSET(cpu, &set))
            continue;
        while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set))
            last++;
        at += (size_t) snprintf(text + at, bytes - at, last > cpu ? "%s%zu-%zu" : "%s%zu",
                                at > 0 ? "," : "", cpu, last);
        cpu = last;
    }
}

static struct rank_facts facts_here(void)
{
    struct rank_facts facts;
    char              name[MPI_MAX_PROCESSOR_NAME];
    int               length = 0;

    memset(&facts, 0, sizeof facts);
    MG_MPI(MPI_Get_processor_name(name, &length));
    (void) snprintf(facts.host, sizeof facts.host, "%.*s", (int) sizeof facts.host - 1, name);
    allowed_cpus(facts.cpus, sizeof facts.cpus);
    facts.cpu   = sched_getcpu();
    facts.clock = mg_clock_measure();
    return facts;
}

static void put_ranks(const struct rank_facts *facts, int ranks)
{
    (void) fprintf(journal, ",\"placement\":[");
    for (int i = 0; i < ranks; i++) {
        (void) fprintf(journal, i > 0 ? ",{" : "{");
        put_string("host", facts[i].host);
        (void) fputc(',', journal);
        put_string("cpus", facts[i].cpus);
        (void) fprintf(journal,
                       ",\"cpu\":%d,\"clock_step_ns\":%" PRId64 ",\"clock_cost_ns\":%" PRId64
                       ",\"clock_cost_p999_ns\":%" PRId64 ",\"clock_zero_share\":%.6f}",
                       facts[i].cpu, facts[i].clock.step_ns, facts[i].clock.cost_ns,
                       facts[i].clock.cost_p999_ns, facts[i].clock.zero_share);
    }
    (void) fputc(']', journal);
}

void mg_journal_launch(int ranks_asked)
{
    char              library[MPI_MAX_LIBRARY_VERSION_STRING];
    int               length     = 0;
    int               ranks      = 0;
    int               version    = 0;
    int               subversion = 0;
    struct rank_facts here       = facts_here();

    MG_MPI(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    MG_MPI(MPI_Get_library_version(library, &length));
    MG_MPI(MPI_Get_version(&version, &subversion));
    struct rank_facts *all = malloc((size_t) ranks * sizeof *all);
    if (all == NULL)
        MG_DIE("no memory for the facts of %d ranks", ranks);
    MG_MPI(MPI_Gather(&here, (int) sizeof here, MPI_BYTE, all, (int) sizeof here, MPI_BYTE, 0,
                      MPI_COMM_WORLD));
    if (journal != NULL) {
        (void) fprintf(journal, "{\"launch\":{\"kernel\":%d,\"ranks\":%d,\"ranks_asked\":%d,",
                       MG_PLAN_VERSION, ranks, ranks_asked);
        put_string("library", library);
        (void) fprintf(journal, ",\"mpi_standard\":\"%d.%d\",", version, subversion);
        put_string("clock", mg_clock_name());
        put_ranks(all, ranks);
        (void) fprintf(journal, "}}");
        end_line();
    }
    free(all);
}

/* ---- Visits ---------------------------------------------------------------------------------- */

void mg_journal_begin(const struct mg_visit *visit, int64_t at_ns, int64_t expect_ns)
{
    current_visit = visit->id;
    (void) fprintf(journal,
                   "{\"begin\":%" PRId64 ",\"at_ns\":%" PRId64 ",\"expect_ns\":%" PRId64 "}",
                   visit->id, at_ns, expect_ns);
    end_line();
}

void mg_journal_tick_of(int64_t visit, int64_t round_ns)
{
    if (kept != NULL) {
        mg_step_tell_tick(visit, round_ns);
        last_line_ns = mg_now_ns();
        return;
    }
    (void) fprintf(journal, "{\"tick\":%" PRId64 ",\"round_ns\":%" PRId64 "}", visit, round_ns);
    end_line();
}

void mg_journal_tick(const struct mg_visit *visit, int64_t round_ns)
{
    mg_journal_tick_of(visit->id, round_ns);
}

void mg_journal_alive(void)
{
    if (journal != NULL && mg_now_ns() - last_line_ns >= quiet_ns)
        mg_journal_tick_of(current_visit, 0);
}

/* ---- Lines of other ranks -------------------------------------------------------------------- */

void mg_journal_keep(const struct mg_visit *visit)
{
    current_visit = visit->id;
    last_line_ns  = mg_now_ns();
    if (journal != NULL)
        return;
    journal = open_memstream(&kept, &kept_bytes);
    if (journal == NULL || fflush(journal) != 0)
        MG_DIE("no memory for a line of the journal");
}

char *mg_journal_kept(size_t *bytes_p)
{
    char *lines = kept;

    *bytes_p = 0;
    if (lines == NULL)
        return NULL;
    (void) fclose(journal);
    lines      = kept; /* closing it may have moved it */
    *bytes_p   = kept_bytes;
    journal    = NULL;
    kept       = NULL;
    kept_bytes = 0;
    return lines;
}

void mg_journal_lines(const char *lines, size_t bytes)
{
    if (bytes == 0)
        return;
    (void) fwrite(lines, 1, bytes - 1, journal);
    end_line(); /* which is their last byte */
}

/* What only rounds have that all ranks start together. */
static void put_together(const struct mg_rounds *rounds)
{
    (void) fprintf(journal, ",\"lead_ns\":%" PRId64 ",\"late\":[", rounds->lead_ns);
    for (int i = 0, put = 0; i < rounds->count; i++)
        if (rounds->late[i])
            (void) fprintf(journal, put++ > 0 ? ",%d" : "%d", i);
    (void) fputc(']', journal);
    put_array("skew_ns", rounds->skew_ns, rounds->count);
    put_array("root_ns", rounds->root_ns, rounds->count);
    put_array("local_ns", rounds->local_ns, rounds->count);
}

void mg_journal_visit(const struct mg_visit *visit, const struct mg_outcome *outcome,
                      const struct mg_rounds *rounds)
{
    const struct mg_standing *standing = &outcome->standing;

    (void) fprintf(journal,
                   "{\"visit\":%" PRId64 ",\"at_ns\":%" PRId64 ",\"elapsed_ns\":%" PRId64
                   ",\"batch\":%d,\"ops\":%d,\"window\":%d,\"pool_bytes\":%zu,\"cpu_ns\":%" PRId64,
                   visit->id, outcome->at_ns, outcome->elapsed_ns, outcome->batch, outcome->ops,
                   visit->pattern->windowed ? visit->window : 0, outcome->pool_bytes,
                   rounds->cpu_ns);
    (void) fprintf(journal, ",\"correlation_time\":%.4g,\"effective\":%.4g",
                   standing->correlation_time, standing->effective);
    if (isfinite(standing->half_width))
        (void) fprintf(journal, ",\"half_width\":%.4g", standing->half_width);
    (void) fprintf(journal, ",\"net_bytes\":%" PRId64 ",\"net_calls\":%d", outcome->net_bytes,
                   outcome->net_calls);
    if (outcome->corrupt != NULL) {
        (void) fputc(',', journal);
        put_string("corrupt", outcome->corrupt);
    }
    put_array("trial_ns", outcome->trial_ns, outcome->trials);
    put_array("warmup_ns", outcome->warmup_ns, outcome->warmups);
    if (outcome->pures > 0) {
        (void) fprintf(journal, ",\"work_ns\":%" PRId64, outcome->work_ns);
        put_array("pure_ns", outcome->pure_ns, outcome->pures);
    }
    if (visit->pattern->sampling == MG_COMMON)
        put_together(rounds);
    put_array("samples_ns", rounds->samples_ns, rounds->count);
    (void) fputc('}', journal);
    end_line();
}

void mg_journal_clock(int64_t at_ns, bool shared, const struct mg_clock_check *checks, int count,
                      const struct mg_clock_model *models, int ranks)
{
    (void) fprintf(journal, "{\"clock\":%" PRId64 ",\"shared\":%s,\"checks\":[", at_ns,
                   shared ? "true" : "false");
    for (int i = 0; i < count; i++)
        (void) fprintf(journal,
                       "%s{\"rank\":%" PRId64 ",\"low_ns\":%" PRId64 ",\"high_ns\":%" PRId64 "}",
                       i > 0 ? "," : "", checks[i].rank, checks[i].low_ns, checks[i].high_ns);
    (void) fprintf(journal, "],\"models\":[");
    for (int i = 0; models != NULL && i < ranks; i++)
        (void) fprintf(journal,
                       "%s{\"base_ns\":%" PRId64
                       ",\"offset_ns\":%.3f,\"slope\":%.6e,\"bound_ns\":%.3f,\"bound_slope\":%.6e}",
                       i > 0 ? "," : "", models[i].base_ns, models[i].offset_ns, models[i].slope,
                       models[i].bound_ns, models[i].bound_slope);
    (void) fprintf(journal, "]}");
    end_line();
}

void mg_journal_skip(const struct mg_visit *visit, const char *reason)
{
    (void) fprintf(journal, "{\"skip\":%" PRId64 ",", visit->id);
    put_string("reason", reason);
    (void) fputc('}', journal);
    end_line();
}

static void put_limit(const struct mg_eager *eager)
{
    (void) fprintf(journal,
                   "\"found\":%s,\"control_held\":%s,\"limit_bytes\":%" PRId64
                   ",\"longer_bytes\":%" PRId64 ",\"max_bytes\":%" PRId64 ",\"probes\":%d}",
                   eager->found ? "true" : "false", eager->control_held ? "true" : "false",
                   eager->limit_bytes, eager->longer_bytes, eager->max_bytes, eager->probes);
    end_line();
}

void mg_journal_blocked(const struct mg_visit *visit, const struct mg_eager *eager)
{
    (void) fprintf(journal, "{\"blocked\":%" PRId64 ",", visit->id);
    put_limit(eager);
}

void mg_journal_eager(const struct mg_visit *visit, const struct mg_eager *eager, int64_t at_ns)
{
    (void) fprintf(journal, "{\"eager\":%" PRId64 ",\"at_ns\":%" PRId64 ",", visit->id, at_ns);
    put_limit(eager);
}

void mg_journal_refused(const struct mg_visit *visit, const char *reason)
{
    (void) fprintf(journal, "{\"refused\":%" PRId64 ",", visit->id);
    put_string("reason", reason);
    (void) fputc('}', journal);
    end_line();
}

void mg_journal_end(int64_t at_ns)
{
    if (journal == NULL)
        return;
    (void) fprintf(journal, "{\"end\":%" PRId64 "}", at_ns);
    end_line();
}
