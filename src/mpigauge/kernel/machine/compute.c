/* compute - computation to overlap with communication.  It uses no memory, no MPI and no clock, so
 * that it takes longer when something else uses its core. */
#include "machine/compute.h"

#include "clock/clock.h"

enum { STEPS = 20000, STEPS_MAX = 1 << 30, TRIALS = 5, TICKS_MIN = 100 };

static struct {
    volatile uint64_t result;     /* keeps the compiler from removing the work */
    int64_t           steps;      /* of the calibration; 0 = not done yet */
    int64_t           fastest_ns; /* what they take */
} work;

void mg_work(int64_t steps)
{
    uint64_t value = work.result | 1;

    for (int64_t i = 0; i < steps; i++) {
        value ^= value << 13;
        value ^= value >> 7;
        value ^= value << 17;
    }
    work.result = value;
}

void mg_work_wide(int64_t steps)
{
    uint64_t a = 0, b = 0, c = 0, d = 0, e = 0, f = 0;
    uint64_t g = 0, h = 0, i = 0, j = 0, k = 0, l = 0;

    /* Twelve sums fit into the registers of every machine.  Without the barrier the compiler would
     * replace the loop by multiplications. */
    for (int64_t step = 0; step < steps; step++) {
        a++, b++, c++, d++, e++, f++, g++, h++, i++, j++, k++, l++;
        __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
        __asm__ volatile("" : "+r"(g), "+r"(h), "+r"(i), "+r"(j), "+r"(k), "+r"(l));
    }
}

static int64_t fastest_of_trials(int64_t steps)
{
    int64_t fastest_ns = INT64_MAX;

    for (int i = 0; i < TRIALS; i++) {
        const int64_t begin_ns = mg_now_ns();
        mg_work(steps);
        const int64_t time_ns = mg_since_ns(begin_ns);

        fastest_ns = time_ns < fastest_ns ? time_ns : fastest_ns;
    }
    return fastest_ns;
}

/* Times enough steps for a coarse clock. */
static void calibrate(int64_t step_ns)
{
    for (work.steps = STEPS;; work.steps *= 2) {
        work.fastest_ns = fastest_of_trials(work.steps);
        if (work.fastest_ns >= TICKS_MIN * step_ns || work.steps >= STEPS_MAX)
            break;
    }
    if (work.fastest_ns < 1)
        work.fastest_ns = 1;
}

int64_t mg_work_for(int64_t ns, int64_t step_ns)
{
    if (work.steps == 0)
        calibrate(step_ns);
    return (int64_t) ((double) ns * (double) work.steps / (double) work.fastest_ns);
}
