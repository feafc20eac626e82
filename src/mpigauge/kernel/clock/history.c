/* history - the longer a clock is watched the better its drift is known: the error of a slope falls
 * with the time over which points are spread, and with the root of their number
 * (docs/method-collectives.md#one-clock-for-all-ranks). */
#include "clock/history.h"

#include <string.h>

enum { POINTS_MOST = 256 /* every second one goes when there are more: a fit is quadratic */ };

static struct {
    struct mg_bounds points[POINTS_MOST];
    int              count;
} history;

static void thin_out(void)
{
    int kept = 0;

    for (int i = 0; i < history.count; i += 2)
        history.points[kept++] = history.points[i];
    history.count = kept;
}

void mg_history_begin(const struct mg_bounds *points, int count, double doubt_ns)
{
    history.count = 0;
    for (int i = 0; i < count; i++) {
        struct mg_bounds point = points[i];

        point.low_ns -= (int64_t) doubt_ns;
        point.high_ns += (int64_t) doubt_ns;
        mg_history_add(&point);
    }
}

void mg_history_add(const struct mg_bounds *point)
{
    if (history.count == POINTS_MOST)
        thin_out();
    history.points[history.count++] = *point;
}

static void forget_oldest(void)
{
    history.count--;
    memmove(history.points, history.points + 1, (size_t) history.count * sizeof *history.points);
}

static struct mg_clock_model moved_to(const struct mg_bounds      *point,
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
    while (history.count > 1 && !mg_clock_may_be_a_line(history.points, history.count))
        forget_oldest();
    if (history.count == 1)
        return moved_to(&history.points[0], before);
    return mg_clock_fit(history.points, history.count);
}
