/* stopped - whether this rank was stopped and goes on: by Ctrl-Z, a scheduler, a debugger, or with
 * the whole machine.
 *
 * The system tells who is continued, so that nothing is asked between two readings of the clock. A
 * machine that has slept tells nobody, but has a clock that went on meanwhile, and one that did
 * not. */
#include "ranks/stopped.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum { READINGS = 3 };

static const int64_t ns_per_s = 1000000000;
static const int64_t sleep_ns = 100000000; /* at least: less is the time between two readings */

static struct {
    volatile sig_atomic_t times;
    int64_t               asleep_ns;
} state;

static void note(int number)
{
    (void) number;
    state.times++;
}

#ifdef __linux__
static int64_t read_ns(clockid_t clock)
{
    struct timespec now = {0};

    (void) clock_gettime(clock, &now);
    return (int64_t) now.tv_sec * ns_per_s + now.tv_nsec;
}

/* Since the machine was started. */
static int64_t asleep_ns(void)
{
    int64_t least_ns = INT64_MAX;

    for (int i = 0; i < READINGS; i++) {
        const int64_t awake_ns = read_ns(CLOCK_MONOTONIC);
        const int64_t since_ns = read_ns(CLOCK_BOOTTIME) - awake_ns;

        if (since_ns < least_ns)
            least_ns = since_ns;
    }
    return least_ns;
}
#else
static int64_t asleep_ns(void)
{
    return 0;
}
#endif

void mg_stopped_heed(void)
{
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART};

    (void) sigemptyset(&action.sa_mask);
    (void) sigaction(SIGCONT, &action, NULL);
    state.asleep_ns = asleep_ns();
}

int mg_stopped_times(void)
{
    const int64_t now_ns = asleep_ns();

    if (now_ns - state.asleep_ns > sleep_ns) {
        state.asleep_ns = now_ns;
        state.times++;
    }
    return state.times;
}
