/* warmup.h - once in a launch: connections, page faults, clock frequency. */
#ifndef MG_WARMUP_H
#define MG_WARMUP_H

#include "rounds/visits.h"

#include <mpi.h>

/* Once per group of ranks that the plan uses, at one byte and at its largest message. */
void mg_warm_up(const struct mg_plan *plan);

/* Neighbours in comm talk for at least least_ns, with one byte and then with so many, if the plan
 * has no limit below that. */
void mg_warm_up_group(const struct mg_plan *plan, const struct mg_visit *visit, size_t bytes,
                      MPI_Comm comm, int ranks, int64_t least_ns);

#endif
