/* global_clock - converts between this rank's clock and the global clock, that of world rank 0. */
#include "clock/global_clock.h"

#include <math.h>

static struct {
    struct mg_clock_model model;
    bool                  shared; /* all ranks read one clock: there is nothing to correct */
} learned;

void mg_global_clock_set(const struct mg_clock_model *model, bool shared)
{
    learned.model  = *model;
    learned.shared = shared;
}

struct mg_clock_model mg_global_clock_model(void)
{
    return learned.model;
}

bool mg_clocks_shared(void)
{
    return learned.shared;
}

int64_t mg_global_of(int64_t local_ns)
{
    const double since = (double) (local_ns - learned.model.base_ns);

    return local_ns - llround(learned.model.offset_ns + learned.model.slope * since);
}

int64_t mg_local_of(int64_t global_ns)
{
    const double since = (double) (global_ns - learned.model.base_ns) + learned.model.offset_ns;

    return learned.model.base_ns + llround(since / (1 - learned.model.slope));
}
