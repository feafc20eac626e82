/* measure.h - the visits of a plan. */
#ifndef MG_MEASURE_H
#define MG_MEASURE_H

#include "rounds/visits.h"

/* Every visit of the plan in its order, each ended by its line in the journal. */
void mg_measure(const struct mg_plan *plan, int64_t start_ns);

#endif
