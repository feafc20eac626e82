/* condition.h - what a visit is made in: the machine right before its samples and right after. */
#ifndef MG_CONDITION_H
#define MG_CONDITION_H

#include "rounds/counters.h"
#include "rounds/visits.h"
#include "text/visit_line.h"

#include <stdbool.h>

enum mg_moment { MG_BEFORE, MG_AFTER, MG_MOMENTS };

/* NaN where there is nothing to be known. */
struct mg_condition {
    double             line_ns[MG_MOMENTS];
    double             line_worst_ns[MG_MOMENTS];
    double             path_ns[MG_MOMENTS];
    double             alu_ns[MG_MOMENTS];
    double             issue_ns[MG_MOMENTS];
    struct mg_counters counters[MG_MOMENTS];
};

/* On all ranks of the group; what this rank has seen, until mg_condition_tell.  The way to another
 * host is asked apart, as its messages go through the cards. */
void mg_condition_ask_path(const struct mg_visit *visit, const struct mg_state *state,
                           struct mg_condition *condition, enum mg_moment moment);
void mg_condition_take(const struct mg_visit *visit, const struct mg_state *state,
                       struct mg_condition *condition, enum mg_moment moment);

/* On all ranks of the group: on rank 0 the condition becomes that of all, and is in the outcome. */
void mg_condition_tell(const struct mg_state *state, struct mg_condition *condition,
                       struct mg_outcome *outcome);

#endif
