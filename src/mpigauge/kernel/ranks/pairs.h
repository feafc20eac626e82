/* pairs.h - pairs of ranks other than the first two, several of them at the same time. */
#ifndef MG_PAIRS_H
#define MG_PAIRS_H

#include "rounds/eager_probe.h"
#include "rounds/visits.h"

#include <mpi.h>

/* ---- Pairs ----------------------------------------------------------------------------------- */

/* Ends the job, naming the visit, if a pair's plan cannot be followed: a rank twice in a step. */
void mg_pairs_check(const struct mg_plan *plan);

/* Lets each pair of the plan talk a little.  Collective over the world. */
void mg_pairs_meet(const struct mg_plan *plan);
void mg_pairs_free(void);

/* Of a visit in which this rank takes part. */
MPI_Comm         mg_pair_begin(const struct mg_visit *visit);
void             mg_pair_end(const struct mg_visit *visit);
struct mg_eager *mg_pair_eager(const struct mg_visit *visit); /* its own limit */

/* ---- Steps ----------------------------------------------------------------------------------- */

/* How many visits from this one on are made at the same time. */
int mg_step_length(const struct mg_visit *visits, const struct mg_visit *end);

/* What a leader, the lower rank of a pair, says of its visit before a step. */
struct mg_offer {
    char    skip[16]; /* why not; empty if it is to be made */
    int64_t expect_ns;
};

typedef struct mg_offer (*mg_offer_fn)(void *context, const struct mg_visit *visit);

/* Returns on the ranks that take part when all of them are here: with the visit of this rank, NULL
 * if it has none.  Leaders are asked for their offers, and rank 0 writes what begins and what is
 * left out.  Its start becomes that of all who take part. */
const struct mg_visit *mg_step_begin(const struct mg_visit *visits, int count, mg_offer_fn offer_of,
                                     void *context, int64_t *start_ns_p);

/* That a round is slow, from a leader to the journal at once. */
void mg_step_tell_tick(int64_t visit, int64_t round_ns);

/* Ranks rest until all are done; then rank 0 writes what the leaders have to say.  Collective over
 * the world. */
void mg_step_end(const struct mg_visit *visits, int count);

#endif
