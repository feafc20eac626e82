/* work - computation to hide communication behind: no memory, no MPI, and no clock, so that it
 * takes longer when something else uses its core. */
#include "kernel.h"

enum { STEPS = 20000, TRIALS = 5 };

static volatile uint64_t result; /* or the compiler would see that nobody wants it */

void mg_work(int64_t steps)
{
    uint64_t value = result | 1;

    for (int64_t i = 0; i < steps; i++) {
        value ^= value << 13;
        value ^= value >> 7;
        value ^= value << 17;
    }
    result = value;
}

int64_t mg_work_for(int64_t ns)
{
    static bool    calibrated;
    static int64_t fastest_ns;

    for (int i = calibrated ? TRIALS : 0; i < TRIALS; i++) {
        const int64_t begin_ns = mg_now_ns();
        mg_work(STEPS);
        const int64_t time_ns = mg_now_ns() - begin_ns;

        fastest_ns = fastest_ns == 0 || time_ns < fastest_ns ? time_ns : fastest_ns;
    }
    calibrated = true;
    return ns * STEPS / fastest_ns;
}
