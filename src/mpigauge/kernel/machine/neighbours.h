/* neighbours.h - times of a cache line between neighbouring ranks of a host, and of an empty
 * message to another host. */
#ifndef MG_NEIGHBOURS_H
#define MG_NEIGHBOURS_H

#include "rounds/visits.h"

#include <mpi.h>
#include <stdbool.h>

/* Makes memory that the ranks of a host share.  Collective over the world. */
void mg_neighbours_make(int64_t clock_cost_ns);
void mg_neighbours_free(void);

/* One-way time of a cache line from this rank to the next on its host: the least of some blocks,
 * the median over lines in pages of both.  NaN if there is no other rank, or it takes too long, as
 * where ranks share a core.  Collective over the group. */
double mg_line_ns(const struct mg_visit *visit, const struct mg_state *state);

/* The first rank of the group on another host than rank 0; -1 if all are on one. */
int mg_far_rank(const struct mg_visit *visit, const struct mg_state *state);

/* One-way time from rank 0 to that rank: half of the least of some empty round trips.  NaN on other
 * ranks, and if all are on one host.  Collective over the group. */
double mg_path_ns(const struct mg_visit *visit, const struct mg_state *state);

/* Whether this is the first rank of the group on its host. */
bool mg_speaks_for_host(const struct mg_visit *visit, const struct mg_state *state);

#endif
