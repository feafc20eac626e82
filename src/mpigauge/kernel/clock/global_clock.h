/* global_clock.h - converts between this rank's clock and the global clock, that of world rank 0.
 */
#ifndef MG_GLOBAL_CLOCK_H
#define MG_GLOBAL_CLOCK_H

#include "clock/drift.h"

#include <stdbool.h>
#include <stdint.h>

/* Hard bounds of how far a rank's global clock is ahead of that of rank 0. */
struct mg_clock_check {
    int64_t rank;
    int64_t low_ns;
    int64_t high_ns;
};

/* Before it is set, and where all ranks read one clock, global time is local time. */
void                  mg_global_clock_set(const struct mg_clock_model *model, bool shared);
struct mg_clock_model mg_global_clock_model(void);

bool    mg_clocks_shared(void); /* all ranks read one clock */
int64_t mg_global_of(int64_t local_ns);
int64_t mg_local_of(int64_t global_ns);

#endif
