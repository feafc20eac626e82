/* journal - what rank 0 writes: one JSON object a line, each flushed. */
#include "text/journal.h"

#include "clock/clock.h"
#include "ranks/abort.h"
#include "text/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER_BYTES = 1 << 20 };

static const int64_t quiet_ns = 1000000000;

static struct {
    FILE   *file;
    int64_t last_line_ns;
    int64_t current_visit;
    char   *kept; /* of a leader that is not rank 0: its lines, where the journal goes meanwhile */
    size_t  kept_bytes;
    mg_tick_fn tell_tick;
    char buffer[BUFFER_BYTES]; /* a line leaves in one piece, not to be torn by other output */
} journal;

void mg_journal_open(const char *path)
{
    int rank = 0;

    MG_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    if (rank != 0)
        return;
    journal.file = strcmp(path, "-") == 0 ? stdout : fopen(path, "a");
    if (journal.file == NULL)
        MG_DIE("cannot write the journal %s", path);
    (void) setvbuf(journal.file, journal.buffer, _IOFBF, sizeof journal.buffer);
}

void mg_journal_close(void)
{
    if (journal.file != NULL && journal.file != stdout && fclose(journal.file) != 0)
        MG_DIE("the journal cannot be written to its end: is the disk full?");
    journal.file = NULL;
}

bool mg_journal_is_open(void)
{
    return journal.file != NULL;
}

FILE *mg_journal_line(void)
{
    return journal.file;
}

void mg_journal_end_line(void)
{
    (void) fputc('\n', journal.file);
    journal.last_line_ns = mg_now_ns();
    if (fflush(journal.file) != 0)
        MG_DIE("the journal cannot be written any more: is the disk full?");
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
    if (journal.kept != NULL) {
        journal.tell_tick(visit, round_ns);
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

void mg_journal_alive(void)
{
    if (journal.file != NULL && mg_now_ns() - journal.last_line_ns >= quiet_ns)
        mg_journal_tick_of(journal.current_visit, 0);
}

/* ---- Lines of other ranks -------------------------------------------------------------------- */

void mg_journal_keep(const struct mg_visit *visit, mg_tick_fn tell_tick)
{
    journal.current_visit = visit->id;
    journal.last_line_ns  = mg_now_ns();
    if (journal.file != NULL)
        return;
    journal.tell_tick = tell_tick;
    journal.file      = open_memstream(&journal.kept, &journal.kept_bytes);
    if (journal.file == NULL || fflush(journal.file) != 0)
        MG_DIE("no memory for a line of the journal");
}

char *mg_journal_kept(size_t *bytes_p)
{
    char *lines = journal.kept;

    *bytes_p = 0;
    if (lines == NULL)
        return NULL;
    (void) fclose(journal.file);
    lines              = journal.kept; /* closing it may have moved it */
    *bytes_p           = journal.kept_bytes;
    journal.file       = NULL;
    journal.kept       = NULL;
    journal.kept_bytes = 0;
    return lines;
}

void mg_journal_lines(const char *lines, size_t bytes)
{
    if (bytes == 0)
        return;
    (void) fwrite(lines, 1, bytes - 1, journal.file);
    mg_journal_end_line(); /* which is their last byte */
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
                   ",\"longer_bytes\":%" PRId64 ",\"max_bytes\":%" PRId64 ",\"probes\":%d}",
                   eager->found ? "true" : "false", eager->control_held ? "true" : "false",
                   eager->limit_bytes, eager->longer_bytes, eager->max_bytes, eager->probes);
    mg_journal_end_line();
}

void mg_journal_blocked(const struct mg_visit *visit, const struct mg_eager *eager)
{
    (void) fprintf(journal.file, "{\"blocked\":%" PRId64 ",", visit->id);
    put_limit(eager);
}

void mg_journal_eager(const struct mg_visit *visit, const struct mg_eager *eager, int64_t at_ns)
{
    (void) fprintf(journal.file, "{\"eager\":%" PRId64 ",\"at_ns\":%" PRId64 ",", visit->id, at_ns);
    put_limit(eager);
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
    if (journal.file == NULL)
        return;
    (void) fprintf(journal.file, "{\"end\":%" PRId64 "}", at_ns);
    mg_journal_end_line();
}
