/* history.h - what this rank's clock was against that of rank 0, again and again over a launch. */
#ifndef MG_HISTORY_H
#define MG_HISTORY_H

#include "clock/drift.h"

/* Forgets all before.  doubt_ns is how far off the clock may have been that the points are against.
 */
void mg_history_begin(const struct mg_bounds *points, int count, double doubt_ns);

/* One more, against the clock of rank 0 itself, by this rank's own clock. */
void mg_history_add(const struct mg_bounds *point);

/* The model of all that one line can meet, at the last point: what is too old for that is
 * forgotten.  Of a single point the drift is not known: it stays as it was in the model before. */
struct mg_clock_model mg_history_fit(const struct mg_clock_model *before);

#endif
