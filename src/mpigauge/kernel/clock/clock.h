/* clock.h - the clock of a rank. */
#ifndef MG_CLOCK_H
#define MG_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Cost and resolution of the clock, from back-to-back readings
 * (docs/method-collectives.md#the-clock). */
struct mg_clock_facts {
    int64_t step_ns; /* smallest difference that is not zero */
    int64_t cost_ns; /* per reading, in the fastest of many blocks */
    int64_t cost_p999_ns;
    double  zero_share; /* of differences */
};

extern clockid_t mg_clock_id; /* read by mg_now_ns alone; chosen by mg_clock_choose */

/* Collective: the same clock on all ranks, since stamps of several ranks are compared. */
void                         mg_clock_choose(void);
const char                  *mg_clock_name(void);
const struct mg_clock_facts *mg_clock_facts(void); /* of the clock that was chosen */

#ifdef MG_SIMULATED_CLOCKS
/* A build for tests: every rank's clock is off by a known offset and drift. */
int64_t mg_simulated_ns(int64_t true_ns);
#else
#define mg_simulated_ns(true_ns) (true_ns)
#endif

static inline int64_t mg_now_ns(void)
{
    struct timespec now;

    (void) clock_gettime(mg_clock_id, &now);
    return mg_simulated_ns((int64_t) now.tv_sec * 1000000000 + now.tv_nsec);
}

/* Never below 0, even if the clock ran backwards. */
static inline int64_t mg_since_ns(int64_t begin_ns)
{
    const int64_t time_ns = mg_now_ns() - begin_ns;

    return time_ns > 0 ? time_ns : 0;
}

/* User and system time of all threads of this process. */
int64_t mg_cpu_ns(void);

#endif
