/* history - offsets of this rank's clock over a launch, for an ever better estimate of its drift:
 * the error of the slope falls with the time that the points span, and with the root of their
 * number (docs/method-collectives.md#one-clock-for-all-ranks). */
#include "clock/history.h"

#include <string.h>

enum { POINTS_MAX = 256 /* then every second one is dropped: a fit is quadratic */ };

static struct {
    struct mg_bounds points[POINTS_MAX];
    int              count;
} history;

static void drop_every_second(void)
{
    int kept = 0;

    for (int i = 0; i < history.count; i += 2)
        history.points[kept++] = history.points[i];
    history.count = kept;
}

void mg_history_begin(const struct mg_bounds *points, int count, double uncertainty_ns)
{
    history.count = 0;
    for (int i = 0; i < count; i++) {
        struct mg_bounds point = points[i];

        point.low_ns -= (int64_t) uncertainty_ns;
        point.high_ns += (int64_t) uncertainty_ns;
        mg_history_add(&point);
    }
}

void mg_history_add(const struct mg_bounds *point)
{
    if (history.count == POINTS_MAX)
        drop_every_second();
    history.points[history.count++] = *point;
}

static void drop_oldest(void)
{
    history.count--;
    memmove(history.points, history.points + 1, (size_t) history.count * sizeof *history.points);
}

static struct mg_clock_model rebased_to(const struct mg_bounds      *point,
                                        const struct mg_clock_model *before)
{
    struct mg_clock_model model = *before;

    model.base_ns   = point->at_ns;
    model.offset_ns = -((double) point->low_ns + (double) point->high_ns) / 2;
    model.bound_ns  = ((double) point->high_ns - (double) point->low_ns) / 2;
    return model;
}

struct mg_clock_model mg_history_fit(const struct mg_clock_model *before)
{
    while (history.count > 1 && !mg_clock_fits_line(history.points, history.count))
        drop_oldest();
    if (history.count == 1)
        return rebased_to(&history.points[0], before);
    return mg_clock_fit(history.points, history.count);
}
