/* journal - the journal that rank 0 writes: one JSON object per line, each flushed. */
#include "text/journal.h"

#include "clock/clock.h"
#include "ranks/abort.h"
#include "text/json.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const int64_t heartbeat_ns = 1000000000;

/* A line is composed in memory and written at once, so that other output cannot tear it.  Leaders
 * of pairs and groups other than rank 0 keep their lines in memory. */
static struct {
    FILE      *out;  /* the journal; NULL except on rank 0 */
    FILE      *file; /* in memory: `text` */
    char      *text;
    size_t     bytes;
    int64_t    last_line_ns;
    int64_t    current_visit;
    mg_tick_fn send_tick;
} journal;

static void open_text(void)
{
    journal.file = open_memstream(&journal.text, &journal.bytes);
    if (journal.file == NULL || fflush(journal.file) != 0)
        MG_DIE("no memory for a line of the journal");
}

static void close_text(void)
{
    if (journal.file != NULL)
        (void) fclose(journal.file);
    journal.file = NULL;
}

/* A file that has content is the journal of another launch.  What is no file, as a pipe, has none.
 */
static bool has_content(FILE *file)
{
    return fseek(file, 0, SEEK_END) == 0 && ftell(file) > 0;
}

void mg_journal_open(const char *path)
{
    int rank = 0;

    MG_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    if (rank != 0)
        return;
    journal.out = strcmp(path, "-") == 0 ? stdout : fopen(path, "a");
    if (journal.out == NULL)
        MG_DIE("cannot write the journal %s", path);
    if (journal.out != stdout && has_content(journal.out))
        MG_DIE("the journal %s is not empty: give each launch a file of its own", path);
    (void) signal(SIGPIPE, SIG_IGN); /* or a closed pipe would end this rank only */
    (void) setvbuf(journal.out, NULL, _IONBF, 0);
    open_text();
}

void mg_journal_close(void)
{
    close_text();
    free(journal.text);
    journal.text = NULL;
    if (journal.out != NULL && journal.out != stdout && fclose(journal.out) != 0)
        MG_DIE("the journal cannot be written to its end: is the disk full?");
    journal.out = NULL;
}

bool mg_journal_is_open(void)
{
    return journal.file != NULL;
}

FILE *mg_journal_line(void)
{
    return journal.file;
}

static void write_out(const char *lines, size_t bytes)
{
    journal.last_line_ns = mg_now_ns();
    if (fwrite(lines, 1, bytes, journal.out) != bytes || fflush(journal.out) != 0)
        MG_DIE("the journal cannot be written any more: is the disk full, or its reader gone?");
}

void mg_journal_end_line(void)
{
    journal.last_line_ns = mg_now_ns();
    if (fputc('\n', journal.file) == EOF || fflush(journal.file) != 0)
        MG_DIE("no memory for a line of the journal");
    if (journal.out == NULL)
        return;
    write_out(journal.text, journal.bytes);
    (void) fseek(journal.file, 0, SEEK_SET); /* the next line overwrites it */
}

/* ---- Visits ---------------------------------------------------------------------------------- */

void mg_journal_begin(const struct mg_visit *visit, int64_t at_ns, int64_t expect_ns)
{
    journal.current_visit = visit->id;
    (void) fprintf(journal.file,
                   "{\"begin\":%" PRId64 ",\"at_ns\":%" PRId64 ",\"expect_ns\":%" PRId64 "}",
                   visit->id, at_ns, expect_ns);
    mg_journal_end_line();
}

void mg_journal_tick_of(int64_t visit, int64_t round_ns)
{
    if (journal.out == NULL) {
        journal.send_tick(visit, round_ns);
        journal.last_line_ns = mg_now_ns();
        return;
    }
    (void) fprintf(journal.file, "{\"tick\":%" PRId64 ",\"round_ns\":%" PRId64 "}", visit,
                   round_ns);
    mg_journal_end_line();
}

void mg_journal_tick(const struct mg_visit *visit, int64_t round_ns)
{
    mg_journal_tick_of(visit->id, round_ns);
}

void mg_journal_heartbeat(void)
{
    if (journal.file != NULL && mg_now_ns() - journal.last_line_ns >= heartbeat_ns)
        mg_journal_tick_of(journal.current_visit, 0);
}

/* ---- Lines of other ranks -------------------------------------------------------------------- */

void mg_journal_keep(const struct mg_visit *visit, mg_tick_fn send_tick)
{
    journal.current_visit = visit->id;
    journal.last_line_ns  = mg_now_ns();
    if (journal.out != NULL)
        return;
    journal.send_tick = send_tick;
    open_text();
}

char *mg_journal_kept(size_t *bytes_p)
{
    *bytes_p = 0;
    if (journal.out != NULL || journal.file == NULL)
        return NULL;
    close_text();
    char *lines  = journal.text;
    *bytes_p     = journal.bytes;
    journal.text = NULL;
    return lines;
}

void mg_journal_lines(const char *lines, size_t bytes)
{
    if (bytes > 0)
        write_out(lines, bytes);
}

void mg_journal_clock(int64_t at_ns, bool shared, const struct mg_clock_check *checks, int count,
                      const struct mg_clock_model *models, int ranks)
{
    (void) fprintf(journal.file, "{\"clock\":%" PRId64 ",\"shared\":%s,\"checks\":[", at_ns,
                   shared ? "true" : "false");
    for (int i = 0; i < count; i++)
        (void) fprintf(journal.file,
                       "%s{\"rank\":%" PRId64 ",\"low_ns\":%" PRId64 ",\"high_ns\":%" PRId64 "}",
                       i > 0 ? "," : "", checks[i].rank, checks[i].low_ns, checks[i].high_ns);
    (void) fprintf(journal.file, "],\"models\":[");
    for (int i = 0; models != NULL && i < ranks; i++)
        (void) fprintf(journal.file,
                       "%s{\"base_ns\":%" PRId64
                       ",\"offset_ns\":%.3f,\"slope\":%.6e,\"bound_ns\":%.3f,\"bound_slope\":%.6e}",
                       i > 0 ? "," : "", models[i].base_ns, models[i].offset_ns, models[i].slope,
                       models[i].bound_ns, models[i].bound_slope);
    (void) fprintf(journal.file, "]}");
    mg_journal_end_line();
}

void mg_journal_skip(const struct mg_visit *visit, const char *reason)
{
    (void) fprintf(journal.file, "{\"skip\":%" PRId64 ",", visit->id);
    mg_json_word(journal.file, "reason", reason);
    (void) fputc('}', journal.file);
    mg_journal_end_line();
}

static void put_limit(const struct mg_eager *eager)
{
    (void) fprintf(journal.file,
                   "\"found\":%s,\"control_held\":%s,\"limit_bytes\":%" PRId64
                   ",\"longer_bytes\":%" PRId64 ",\"max_bytes\":%" PRId64 ",\"probes\":%d",
                   eager->found ? "true" : "false", eager->control_held ? "true" : "false",
                   eager->limit_bytes, eager->longer_bytes, eager->max_bytes, eager->probes);
}

void mg_journal_blocked(const struct mg_visit *visit, const struct mg_eager *eager)
{
    (void) fprintf(journal.file, "{\"blocked\":%" PRId64 ",", visit->id);
    put_limit(eager);
    (void) fputc('}', journal.file);
    mg_journal_end_line();
}

static void put_crossing(const struct mg_crossing *crossing)
{
    static const char *const keys[MG_CROSSING_SIZES] = {
        [MG_AT_LIMIT]    = "at_limit_ns",
        [MG_ABOVE_LIMIT] = "above_ns",
        [MG_BELOW_LIMIT] = "below_ns",
        [MG_BELOW_ODD]   = "below_odd_ns",
    };

    (void) fputs(",\"crossing\":{", journal.file);
    for (int size = 0; size < MG_CROSSING_SIZES; size++) {
        if (size > 0)
            (void) fputc(',', journal.file);
        mg_json_array(journal.file, keys[size], crossing->samples_ns[size], crossing->rounds);
    }
    (void) fputc('}', journal.file);
}

void mg_journal_eager(const struct mg_visit *visit, const struct mg_eager *eager,
                      const struct mg_crossing *crossing, int64_t at_ns)
{
    (void) fprintf(journal.file, "{\"eager\":%" PRId64 ",\"at_ns\":%" PRId64 ",", visit->id, at_ns);
    put_limit(eager);
    if (crossing->rounds > 0)
        put_crossing(crossing);
    (void) fputc('}', journal.file);
    mg_journal_end_line();
}

void mg_journal_refused(const struct mg_visit *visit, const char *reason)
{
    (void) fprintf(journal.file, "{\"refused\":%" PRId64 ",", visit->id);
    mg_json_word(journal.file, "reason", reason);
    (void) fputc('}', journal.file);
    mg_journal_end_line();
}

void mg_journal_end(int64_t at_ns)
{
    if (journal.out == NULL)
        return;
    (void) fprintf(journal.file, "{\"end\":%" PRId64 "}", at_ns);
    mg_journal_end_line();
}
