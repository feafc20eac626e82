/* history.h - offsets of this rank's clock from that of rank 0 over a launch. */
#ifndef MG_HISTORY_H
#define MG_HISTORY_H

#include "clock/drift.h"

/* Starts anew with these points.  uncertainty_ns is that of the clock which they were measured
 * against. */
void mg_history_begin(const struct mg_bounds *points, int count, double uncertainty_ns);

/* Adds a point measured against the clock of rank 0, in uncorrected local time. */
void mg_history_add(const struct mg_bounds *point);

/* Fits the model, with the last point as base, to as many recent points as one line can fit; older
 * ones are dropped.  From a single point only the offset is taken, the drift from `before`. */
struct mg_clock_model mg_history_fit(const struct mg_clock_model *before);

#endif
