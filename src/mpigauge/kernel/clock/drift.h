/* drift.h - a linear model of a clock that drifts, from hard bounds of its offset. */
#ifndef MG_DRIFT_H
#define MG_DRIFT_H

#include <stdbool.h>
#include <stdint.h>

/* Bounds of (reference - client), from timestamped messages, as the client computes them. */
struct mg_bounds {
    int64_t low_ns;
    int64_t high_ns;
    int64_t at_ns; /* client time, midway between the two exchanges that set them */
};

/* The time of the reference by the client's clock: t - offset - slope * (t - base).  The bound is
 * hard at base and grows by bound_slope for every nanosecond after it. */
struct mg_clock_model {
    int64_t base_ns;
    double  offset_ns;
    double  slope;
    double  bound_ns;
    double  bound_slope;
};

/* Fits the model of a client's clock, with the last of the bounds as base. */
struct mg_clock_model mg_clock_fit(const struct mg_bounds *bounds, int count);

/* Whether a clock of constant drift can lie within all bounds. */
bool mg_clock_fits_line(const struct mg_bounds *bounds, int count);

#endif
