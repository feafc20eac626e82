/* condition.h - the state of the machine right before the samples of a visit and right after. */
#ifndef MG_CONDITION_H
#define MG_CONDITION_H

#include "machine/counters.h"
#include "rounds/visits.h"
#include "text/visit_line.h"

#include <stdbool.h>

enum mg_moment { MG_BEFORE, MG_AFTER, MG_MOMENTS };

/* NaN where it is not known. */
struct mg_condition {
    double             line_ns[MG_MOMENTS];
    double             line_worst_ns[MG_MOMENTS];
    double             path_ns[MG_MOMENTS];
    double             alu_ns[MG_MOMENTS];
    double             issue_ns[MG_MOMENTS];
    struct mg_counters counters[MG_MOMENTS];
};

/* Collective over the group; the condition is that of this rank.  The path to another host is read
 * apart, since its messages would be counted by the network cards. */
void mg_condition_read_path(const struct mg_visit *visit, const struct mg_state *state,
                            struct mg_condition *condition, enum mg_moment moment);
void mg_condition_read(const struct mg_visit *visit, const struct mg_state *state,
                       struct mg_condition *condition, enum mg_moment moment);

/* Collective over the group: on rank 0 the condition becomes that of all ranks, and the outcome
 * points to it. */
void mg_condition_gather(const struct mg_state *state, struct mg_condition *condition,
                         struct mg_outcome *outcome);

#endif
