/* measure.h - makes the visits of a plan. */
#ifndef MG_MEASURE_H
#define MG_MEASURE_H

#include "rounds/visits.h"

/* Makes every visit of the plan in order, and writes each to the journal. */
void mg_measure(const struct mg_plan *plan, int64_t start_ns);

#endif
