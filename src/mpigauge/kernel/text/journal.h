/* journal.h - the journal, which rank 0 writes during the launch. */
#ifndef MG_JOURNAL_H
#define MG_JOURNAL_H

#include "clock/global_clock.h"
#include "probe/crossing.h"
#include "probe/eager_probe.h"
#include "rounds/visits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

void mg_journal_open(const char *path);
void mg_journal_close(void);
bool mg_journal_is_open(void);

/* The stream of the next line, and its end. */
FILE *mg_journal_line(void);
void  mg_journal_end_line(void);

void mg_journal_begin(const struct mg_visit *visit, int64_t at_ns, int64_t expect_ns);
void mg_journal_tick(const struct mg_visit *visit, int64_t round_ns);
void mg_journal_tick_of(int64_t visit, int64_t round_ns);
/* Writes a line if there was none for a second, so that a long visit is not taken for a hang.  Call
 * outside timed code. */
void mg_journal_heartbeat(void);

/* models is NULL if all ranks read one clock, or after a check only. */
void mg_journal_clock(int64_t at_ns, bool shared, const struct mg_clock_check *checks, int count,
                      const struct mg_clock_model *models, int ranks);
void mg_journal_skip(const struct mg_visit *visit, const char *reason);
void mg_journal_blocked(const struct mg_visit *visit, const struct mg_eager *eager);
void mg_journal_refused(const struct mg_visit *visit, const char *reason);
void mg_journal_eager(const struct mg_visit *visit, const struct mg_eager *eager,
                      const struct mg_crossing *crossing, int64_t at_ns);
void mg_journal_end(int64_t at_ns);

/* ---- Lines of other ranks -------------------------------------------------------------------- */

/* Sends a tick to rank 0. */
typedef void (*mg_tick_fn)(int64_t visit, int64_t round_ns);

/* Keeps the following lines of a visit in memory and sends its ticks; on rank 0 lines go to the
 * journal as usual. */
void mg_journal_keep(const struct mg_visit *visit, mg_tick_fn send_tick);

/* Ends that and returns the kept lines, to be freed; NULL if there are none. */
char *mg_journal_kept(size_t *bytes_p);

/* On rank 0: writes lines that another rank has kept. */
void mg_journal_lines(const char *lines, size_t bytes);

#endif
