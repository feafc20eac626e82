/* batching.h - how many calls between two clock readings, and how many samples in a visit. */
#ifndef MG_BATCHING_H
#define MG_BATCHING_H

#include "clock/clock.h"
#include "rounds/visits.h"

enum {
    MG_OVERDRAFT    = 8,  /* times its share of time that a series of a slow visit may take */
    MG_OVERTIME     = 16, /* times its time that a slow cell may take: two such series per visit */
    MG_SAMPLES_CELL = 8,  /* per cell and launch, at least, unless they take MG_OVERDRAFT */
};

/* Calls between two clock readings, given the time of a call and the time that a visit has. */
int mg_batch_for(const struct mg_visit *visit, double round_ns, int64_t share_ns);

/* Limits a batch so that a visit has several samples, given what a call has cost. */
int mg_batch_within(const struct mg_pattern *pattern, int batch, double cost_ns, int64_t share_ns);

/* Samples per visit, given what one costs and the time that the visit has. */
int mg_rounds_for(const struct mg_plan *plan, double cost_ns, int64_t share_ns);

#endif
