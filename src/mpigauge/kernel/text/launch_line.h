/* launch_line.h - the first line of a journal: the facts of the launch. */
#ifndef MG_LAUNCH_LINE_H
#define MG_LAUNCH_LINE_H

#include <stdint.h>

/* Gathers the facts of all ranks and writes the line.  Collective over the world.  init_ns is what
 * MPI_Init took on this rank. */
void mg_journal_launch(int ranks_asked, int64_t init_ns, int64_t first_round_trip_ns);

#endif
