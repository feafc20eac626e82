/* neighbours.h - ranks of a visit that share a host, and how quickly a cache line gets from one to
 * the next; and the way to another host. */
#ifndef MG_NEIGHBOURS_H
#define MG_NEIGHBOURS_H

#include "rounds/visits.h"

#include <mpi.h>
#include <stdbool.h>

/* Learns who shares a host, and makes memory that these share.  Collective over the world. */
void mg_neighbours_make(int64_t clock_cost_ns);
void mg_neighbours_free(void);

/* One way from this rank to its next neighbour on the host: the least of some blocks, in the median
 * over lines that live in pages of either.  NaN where there is none, or it takes too long, as where
 * ranks share a core.  Collective over the group. */
double mg_line_ns(const struct mg_visit *visit, const struct mg_state *state);

/* The first rank of the group on another host than rank 0; -1 if all are on one. */
int mg_far_rank(const struct mg_visit *visit, const struct mg_state *state);

/* One way from rank 0 to that rank: half of the least of some empty round trips, on rank 0; NaN on
 * all others, and where all are on one host. */
double mg_path_ns(const struct mg_visit *visit, const struct mg_state *state);

/* Whether no rank of the group before this one is on its host. */
bool mg_speaks_for_host(const struct mg_visit *visit, const struct mg_state *state);

#endif
