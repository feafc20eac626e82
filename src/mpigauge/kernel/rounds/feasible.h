/* feasible.h - visits that are not possible, and the probe that tells of some. */
#ifndef MG_FEASIBLE_H
#define MG_FEASIBLE_H

#include "rounds/visits.h"

/* Probes once in a launch, and tells the journal. */
void mg_probe_visit(const struct mg_plan *plan, const struct mg_visit *visit,
                    struct mg_state *state, int64_t at_ns);

/* Whether there is memory for a visit and it cannot deadlock; if not, the journal tells why. */
bool mg_is_possible(const struct mg_plan *plan, const struct mg_visit *visit,
                    struct mg_state *state);

#endif
