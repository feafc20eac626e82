/* pairs.h - visits of any two ranks, several of them at the same time. */
#ifndef MG_PAIRS_H
#define MG_PAIRS_H

#include "probe/eager_probe.h"
#include "rounds/visits.h"

#include <mpi.h>

/* ---- Pairs ----------------------------------------------------------------------------------- */

/* Ends the job, naming the visit, if a rank is twice in a step. */
void mg_pairs_check(const struct mg_plan *plan);

/* Warms up every pair of the plan, one after the other.  Collective over the world. */
void mg_pairs_warm_up(const struct mg_plan *plan);
void mg_pairs_free(void);

/* For a visit in which this rank takes part. */
MPI_Comm         mg_pair_begin(const struct mg_visit *visit);
void             mg_pair_end(const struct mg_visit *visit);
struct mg_eager *mg_pair_eager(const struct mg_visit *visit); /* the eager limit of the pair */

/* ---- Steps ----------------------------------------------------------------------------------- */

/* How many visits from this one on are in its step. */
int mg_step_length(const struct mg_visit *visits, const struct mg_visit *end);

/* What the leader of a pair, its lower rank, tells rank 0 before a step. */
struct mg_offer {
    char    skip[16]; /* why the visit is skipped; empty if it is not */
    int64_t expect_ns;
};

typedef struct mg_offer (*mg_offer_fn)(void *context, const struct mg_visit *visit);

/* Returns the visit of this rank when all ranks that take part have called it; NULL at once if this
 * rank has none.  Calls offer_of on leaders; rank 0 writes what begins and what is skipped.  The
 * start of the launch on rank 0 becomes that of all ranks that take part. */
const struct mg_visit *mg_step_begin(const struct mg_visit *visits, int count, mg_offer_fn offer_of,
                                     void *context, int64_t *start_ns_p);

/* Sends a tick for a slow round from a leader to the journal. */
void mg_step_send_tick(int64_t visit, int64_t round_ns);

/* Waits until all visits of the step are done; then rank 0 writes the lines of the leaders.
 * Collective over the world. */
void mg_step_end(const struct mg_visit *visits, int count);

#endif
