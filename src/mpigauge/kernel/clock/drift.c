/* drift - a linear model of a clock that drifts, from hard bounds of its offset
 * (docs/method-collectives.md#one-clock-for-all-ranks). */
#include "clock/drift.h"

#include "ranks/abort.h"

#include <math.h>
#include <stdlib.h>

struct point {
    double since_ns;  /* client time after the first point */
    double offset_ns; /* client - reference, the middle of its bounds */
    double low_ns;
    double high_ns;
};

/* Weighted least squares with the weights 1 / bound^2, about the mean time, where slope and offset
 * do not disturb each other. */
static void fit_line(const struct point *points, int count, double *mean_p, double *offset_p,
                     double *slope_p)
{
    double weights = 0, mean = 0, offset = 0, covariance = 0, variance = 0;

    for (int i = 0; i < count; i++) {
        const double bound  = fmax((points[i].high_ns - points[i].low_ns) / 2, 1);
        const double weight = 1 / (bound * bound);

        weights += weight;
        mean += weight * points[i].since_ns;
        offset += weight * points[i].offset_ns;
    }
    mean /= weights;
    offset /= weights;
    for (int i = 0; i < count; i++) {
        const double bound  = fmax((points[i].high_ns - points[i].low_ns) / 2, 1);
        const double weight = 1 / (bound * bound);
        const double since  = points[i].since_ns - mean;

        covariance += weight * since * (points[i].offset_ns - offset);
        variance += weight * since * since;
    }
    *mean_p   = mean;
    *offset_p = offset;
    *slope_p  = variance > 0 ? covariance / variance : 0;
}

/* All slopes that a line through every pair of bounds can have. */
static void possible_slopes(const struct point *points, int count, double *least_p, double *most_p)
{
    *least_p = -INFINITY;
    *most_p  = INFINITY;
    for (int i = 0; i < count; i++)
        for (int j = i + 1; j < count; j++) {
            const double time = points[j].since_ns - points[i].since_ns;

            if (time <= 0)
                continue;
            *least_p = fmax(*least_p, (points[j].low_ns - points[i].high_ns) / time);
            *most_p  = fmin(*most_p, (points[j].high_ns - points[i].low_ns) / time);
        }
}

/* How far the truth can be from the model at a time: it lies within the bounds of every point,
 * moved there by any possible slope. */
static double bound_at(const struct point *points, int count, double since, double modelled,
                       double least, double most)
{
    double low  = -INFINITY;
    double high = INFINITY;

    for (int i = 0; i < count; i++) {
        const double time = since - points[i].since_ns;

        low  = fmax(low, points[i].low_ns + least * time);
        high = fmin(high, points[i].high_ns + most * time);
    }
    return fmax(fmax(modelled - low, high - modelled), 0);
}

static struct point point_of(const struct mg_bounds *bounds, int64_t first_ns)
{
    return (struct point){.since_ns  = (double) (bounds->at_ns - first_ns),
                          .low_ns    = (double) -bounds->high_ns,
                          .high_ns   = (double) -bounds->low_ns,
                          .offset_ns = (double) -(bounds->low_ns + bounds->high_ns) / 2};
}

static struct point *points_of(const struct mg_bounds *bounds, int count)
{
    struct point *points = count > 0 ? calloc((size_t) count, sizeof *points) : NULL;

    if (points == NULL)
        MG_DIE("no memory to fit %d offsets", count);
    for (int i = 0; i < count; i++)
        points[i] = point_of(&bounds[i], bounds[0].at_ns);
    return points;
}

bool mg_clock_may_be_a_line(const struct mg_bounds *bounds, int count)
{
    struct point *points = points_of(bounds, count);
    double        least = 0, most = 0;

    possible_slopes(points, count, &least, &most);
    free(points);
    return least <= most;
}

struct mg_clock_model mg_clock_fit(const struct mg_bounds *bounds, int count)
{
    struct point *points = points_of(bounds, count);
    double        mean = 0, offset = 0, slope = 0, least = 0, most = 0;

    fit_line(points, count, &mean, &offset, &slope);
    possible_slopes(points, count, &least, &most);

    const double                last     = points[count - 1].since_ns;
    const double                modelled = offset + slope * (last - mean);
    const struct mg_clock_model model = {.base_ns   = bounds[0].at_ns + llround(last),
                                         .offset_ns = modelled,
                                         .slope     = slope,
                                         .bound_ns =
                                             bound_at(points, count, last, modelled, least, most),
                                         .bound_slope = fmax(fmax(most - slope, slope - least), 0)};
    free(points);
    return model;
}
