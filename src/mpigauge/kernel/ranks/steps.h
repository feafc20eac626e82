/* steps.h - visits of any two ranks, or of the groups of the plan, several at the same time. */
#ifndef MG_STEPS_H
#define MG_STEPS_H

#include "probe/eager_probe.h"
#include "rounds/visits.h"

#include <mpi.h>

/* Whether a visit of the plan starts at a time of the global clock. */
bool mg_needs_clock(const struct mg_plan *plan);

/* ---- Groups ---------------------------------------------------------------------------------- */

/* Ends the job, naming the visit, if a rank is twice in a step, or if groups of a step that start
 * together do different things. */
void mg_steps_check(const struct mg_plan *plan);

/* Warms up every pair and group of the plan, one after the other.  Collective over the world. */
void mg_steps_warm_up(const struct mg_plan *plan);
void mg_steps_free(void);

/* The eager limit of the ranks of a visit in which this rank takes part. */
struct mg_eager *mg_step_eager(const struct mg_visit *visit);

/* ---- Steps ----------------------------------------------------------------------------------- */

/* How many visits from this one on are in its step. */
int mg_step_length(const struct mg_visit *visits, const struct mg_visit *end);

/* What the leader of a group, its first rank, tells rank 0 before a step. */
struct mg_offer {
    char    skip[16]; /* why the visit is skipped; empty if it is not */
    int64_t expect_ns;
};

typedef struct mg_offer (*mg_offer_fn)(void *context, const struct mg_visit *visit);

/* A step as this rank sees it. */
struct mg_step {
    const struct mg_visit *visit; /* its own; NULL if it takes no part */
    bool                   go;    /* it is not skipped */
    MPI_Comm               comm;  /* of the group */
    struct mg_starters     starters;
};

/* Returns when all ranks that take part have called it; at once if this rank does not.  Calls
 * offer_of on leaders; rank 0 writes what begins and what is skipped.  Groups that start together
 * are skipped together.  The start of the launch on rank 0 becomes that of all ranks that take
 * part. */
struct mg_step mg_step_begin(const struct mg_visit *visits, int count, mg_offer_fn offer_of,
                             void *context, int64_t *start_ns_p);

/* Sends a tick for a slow round from a leader to the journal. */
void mg_step_send_tick(int64_t visit, int64_t round_ns);

/* Waits until all visits of the step are done; then rank 0 writes the lines of the leaders.
 * Collective over the world. */
void mg_step_end(const struct mg_visit *visits, int count);

#endif
