/* sync.h - one clock for all ranks: learned, and checked. */
#ifndef MG_SYNC_H
#define MG_SYNC_H

#include <stdbool.h>
#include <stdint.h>

/* Learns the global clock, and tells the journal.  Collective over the world. */
void mg_clocks_synchronise(int64_t start_ns);

/* Measures how well the global clock holds, tells the journal, and learns from it; from the
 * beginning where it is certainly off by more than tolerance_ns.  Collective over the world. */
void mg_clocks_check(int64_t start_ns, int64_t tolerance_ns, bool last);
void mg_clocks_free(void);

#endif
