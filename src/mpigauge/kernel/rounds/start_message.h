/* start_message.h - the message that starts a round, and how long before the start it is sent. */
#ifndef MG_START_MESSAGE_H
#define MG_START_MESSAGE_H

#include "rounds/samples.h"
#include "rounds/visits.h"

/* What rank 0 sends before a round. */
struct mg_start_message {
    int64_t start_ns; /* global time of the start; `stop`: there is no further round */
    int64_t quiet_ns; /* ranks send nothing until so long after the start */
    int64_t with_cpu; /* CPU time is measured */
    int64_t extra;    /* the round is not a sample */
};

/* Sends it from the first of those who start together along a binomial tree, the same for all MPI
 * libraries. */
void mg_start_message_spread(const struct mg_state *state, struct mg_start_message *message);

/* The lead of those who start together.  Collective over them; call before every series. */
int64_t *mg_lead_of(const struct mg_visit *visit, const struct mg_state *state);
void     mg_leads_free(void);

/* The lead of the next series: longer after too many late messages, shorter after none.  A rank
 * that was behind for other reasons would be so with any lead. */
int64_t mg_lead_next(const struct mg_visit *visit, const struct mg_state *state,
                     const struct mg_rounds *rounds, int64_t limit_ns);

#endif
