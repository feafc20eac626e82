/* warmup.h - once per launch: connections, page faults, clock frequency. */
#ifndef MG_WARMUP_H
#define MG_WARMUP_H

#include "rounds/visits.h"

#include <mpi.h>

/* Warms up every group of ranks of the plan, at one byte and at its largest message. */
void mg_warm_up(const struct mg_plan *plan);

/* Bytes of the largest message of a visit, at least 1. */
size_t mg_warm_up_bytes(const struct mg_visit *visit);

/* Neighbours in comm exchange messages of one byte for at least least_ns, and then of `bytes` if
 * that is within the limit of the plan. */
void mg_warm_up_group(const struct mg_plan *plan, const struct mg_visit *visit, size_t bytes,
                      MPI_Comm comm, int ranks, int64_t least_ns);

#endif
