/* stopped - how often this rank was stopped and continued: by Ctrl-Z, a scheduler, a debugger, or
 * because the machine was suspended.
 *
 * SIGCONT tells, so that nothing runs between two readings of the clock.  A suspended machine sends
 * no signal, but CLOCK_BOOTTIME counts the time of the suspension and CLOCK_MONOTONIC does not. */
#include "ranks/stopped.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum { READINGS = 3 };

static const int64_t ns_per_s         = 1000000000;
static const int64_t suspended_min_ns = 100000000; /* less is the time between two readings */

static struct {
    volatile sig_atomic_t count;
    int64_t               suspended_ns;
} state;

static void on_continue(int number)
{
    (void) number;
    state.count++;
}

#ifdef __linux__
static int64_t read_ns(clockid_t clock)
{
    struct timespec now = {0};

    (void) clock_gettime(clock, &now);
    return (int64_t) now.tv_sec * ns_per_s + now.tv_nsec;
}

/* Time suspended since boot. */
static int64_t suspended_ns(void)
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
static int64_t suspended_ns(void)
{
    return 0;
}
#endif

void mg_stopped_watch(void)
{
    struct sigaction action = {.sa_handler = on_continue, .sa_flags = SA_RESTART};

    (void) sigemptyset(&action.sa_mask);
    (void) sigaction(SIGCONT, &action, NULL);
    state.suspended_ns = suspended_ns();
}

int mg_stopped_count(void)
{
    const int64_t now_ns = suspended_ns();

    if (now_ns - state.suspended_ns > suspended_min_ns) {
        state.suspended_ns = now_ns;
        state.count++;
    }
    return state.count;
}
