/* lead.h - the word that starts a round, and how long before the start it is sent. */
#ifndef MG_LEAD_H
#define MG_LEAD_H

#include "rounds/samples.h"
#include "rounds/visits.h"

/* What rank 0 says of a round. */
struct mg_word {
    int64_t start_ns; /* when it starts, in global time; `stop`: there is none */
    int64_t quiet_ns; /* who is done sooner sends nothing until so long after its start */
    int64_t with_cpu; /* CPU time is taken */
    int64_t extra;    /* it is no sample */
};

/* From rank 0 along a binomial tree of our own, the same for all MPI libraries. */
void mg_word_spread(const struct mg_state *state, struct mg_word *word);

/* Of a group; the same on all its ranks, which call this before every series. */
int64_t *mg_lead_of(const struct mg_visit *visit, const struct mg_state *state);

/* What the next series is to have: longer where too many were told too late, shorter where nobody
 * was.  A rank that was behind would be so after any lead. */
int64_t mg_lead_next(const struct mg_visit *visit, const struct mg_state *state,
                     const struct mg_rounds *rounds, int64_t limit_ns);

#endif
