/* watchdog - an alarm that ends this rank unless it is restarted or cancelled in time.
 *
 * It is a signal, so that nothing runs between two readings of the clock. */
#include "ranks/watchdog.h"

#include "ranks/stopped.h"

#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

enum {
    SENTENCE_BYTES = 256,
    NS_PER_US      = 1000,
    US_PER_S       = 1000000,
};

#ifndef MG_START_MAX_S
#define MG_START_MAX_S 180
#endif

static struct {
    int     stops; /* of this rank until the alarm was set: after one more it is set again */
    int64_t limit_ns;
    char    sentence[SENTENCE_BYTES];
    size_t  sentence_bytes;
} watchdog;

static void set_alarm(int64_t after_ns)
{
    const int64_t    us    = after_ns / NS_PER_US;
    struct itimerval timer = {.it_value = {.tv_sec = us / US_PER_S, .tv_usec = us % US_PER_S}};

    watchdog.stops = mg_stopped_count();
    (void) setitimer(ITIMER_REAL, &timer, NULL);
}

/* The timer runs on while a rank is stopped. */
static void on_alarm(int number)
{
    if (mg_stopped_count() != watchdog.stops) {
        set_alarm(watchdog.limit_ns);
        return;
    }
    (void) !write(STDERR_FILENO, watchdog.sentence, watchdog.sentence_bytes);
    (void) signal(number, SIG_DFL);
    (void) raise(number);
}

void mg_watchdog_restart(void)
{
    if (watchdog.limit_ns > 0)
        set_alarm(watchdog.limit_ns);
}

void mg_watchdog_cancel(void)
{
    if (watchdog.limit_ns > 0)
        set_alarm(0);
    watchdog.limit_ns = 0;
}

void mg_watchdog_start(int64_t limit_ns, const char *sentence)
{
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};

    mg_watchdog_cancel(); /* or the alarm could come while the sentence changes */
    const int length =
        snprintf(watchdog.sentence, sizeof watchdog.sentence, "mpigauge-kernel: %s\n", sentence);

    watchdog.sentence_bytes = length < SENTENCE_BYTES ? (size_t) length : SENTENCE_BYTES - 1;
    watchdog.limit_ns       = limit_ns;
    (void) sigemptyset(&action.sa_mask);
    (void) sigaction(SIGALRM, &action, NULL);
    mg_watchdog_restart();
}

/* A launcher may not pass on that its own input has ended, and then nothing else tells a rank that
 * its plan never comes, nor the ranks that wait for it in MPI. */
void mg_watchdog_await_plan(void)
{
    mg_watchdog_start((int64_t) MG_START_MAX_S * US_PER_S * NS_PER_US, "its plan has not come");
}
