/* feasible.h - whether a visit can be measured, and visits of the eager probe. */
#ifndef MG_FEASIBLE_H
#define MG_FEASIBLE_H

#include "rounds/visits.h"

/* Probes the eager limit once per launch, times what crossing it costs, and writes both to the
 * journal. */
void mg_eager_visit(const struct mg_plan *plan, const struct mg_visit *visit,
                    struct mg_state *state, int64_t at_ns);

/* Whether there is memory for a visit and it cannot deadlock; if not, the journal gets the reason.
 */
bool mg_is_feasible(const struct mg_plan *plan, const struct mg_visit *visit,
                    struct mg_state *state);

#endif
