/* launch_line.h - the first line of a journal: the facts of the launch. */
#ifndef MG_LAUNCH_LINE_H
#define MG_LAUNCH_LINE_H

#include <stdint.h>

/* Collective: gathers the facts of every rank. */
void mg_journal_launch(int ranks_asked, int64_t first_round_trip_ns);

#endif
