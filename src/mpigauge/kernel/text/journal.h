/* journal.h - what rank 0 writes down as it happens. */
#ifndef MG_JOURNAL_H
#define MG_JOURNAL_H

#include "clock/global_clock.h"
#include "rounds/eager_probe.h"
#include "rounds/visits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

void mg_journal_open(const char *path);
void mg_journal_close(void);
bool mg_journal_is_open(void);

/* Where the next line is written, and what ends it. */
FILE *mg_journal_line(void);
void  mg_journal_end_line(void);

void mg_journal_begin(const struct mg_visit *visit, int64_t at_ns, int64_t expect_ns);
void mg_journal_tick(const struct mg_visit *visit, int64_t round_ns);
void mg_journal_tick_of(int64_t visit, int64_t round_ns);
/* Between probes, outside timed code: a line if there has been none for a second, so that a long
 * probe is not taken for a hang. */
void mg_journal_alive(void);

/* models is NULL where all ranks read one clock, or after a mere check. */
void mg_journal_clock(int64_t at_ns, bool shared, const struct mg_clock_check *checks, int count,
                      const struct mg_clock_model *models, int ranks);
void mg_journal_skip(const struct mg_visit *visit, const char *reason);
void mg_journal_blocked(const struct mg_visit *visit, const struct mg_eager *eager);
void mg_journal_refused(const struct mg_visit *visit, const char *reason);
void mg_journal_eager(const struct mg_visit *visit, const struct mg_eager *eager, int64_t at_ns);
void mg_journal_end(int64_t at_ns);

/* ---- Lines of other ranks -------------------------------------------------------------------- */

/* Where ticks go meanwhile. */
typedef void (*mg_tick_fn)(int64_t visit, int64_t round_ns);

/* What this rank writes of a visit is kept here from now on, instead of going to the journal; on
 * rank 0 it goes there as ever. */
void mg_journal_keep(const struct mg_visit *visit, mg_tick_fn tell_tick);

/* What was kept, NULL if nothing is; to be freed.  Nothing is kept any more. */
char *mg_journal_kept(size_t *bytes_p);

/* Whole lines that another rank has kept, on rank 0. */
void mg_journal_lines(const char *lines, size_t bytes);

#endif
