/* sync.h - synchronises the clocks of all ranks, and checks them. */
#ifndef MG_SYNC_H
#define MG_SYNC_H

#include <stdbool.h>
#include <stdint.h>

/* Synchronises all clocks, and writes a check of it to the journal.  Collective over the world. */
void mg_clocks_synchronise(int64_t start_ns);

/* Checks the global clocks, writes that to the journal, and refines their models; synchronises anew
 * if one is certainly off by more than tolerance_ns.  Collective over the world. */
void mg_clocks_check(int64_t start_ns, int64_t tolerance_ns, bool last);
void mg_clocks_free(void);

#endif
