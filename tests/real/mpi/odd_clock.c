/* odd_clock - preloaded: clocks as some machines have them.
 *
 * ODD_CLOCK_SLOW_NS: reading the time takes so much longer.
 * ODD_CLOCK_SLOW_FROM: but only after so many readings of the raw clock.
 * ODD_CLOCK_CPU_NS: asking for CPU time takes so much longer.
 * ODD_CLOCK_BACK_NS: every 31st reading is so much too early.
 * ODD_CLOCK_STALL_NS: every 29th reading takes so much longer, on a rank whose number is odd. */
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

enum { BACK_EVERY = 31, STALL_EVERY = 29 };

typedef int reader(clockid_t, struct timespec *);

static struct {
    reader *real;
    long    slow_ns, slow_from, cpu_ns, back_ns, stall_ns;
    long    readings, raw_readings;
} odd;

static long number(const char *name)
{
    const char *text = getenv(name);

    return text != NULL ? atol(text) : 0;
}

static int is_odd_rank(void)
{
    const char *names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK"};

    for (int i = 0; i < 2; i++)
        if (number(names[i]) % 2 == 1)
            return 1;
    return 0;
}

__attribute__((constructor)) static void begin(void)
{
    *(void **) &odd.real = dlsym(RTLD_NEXT, "clock_gettime");
    odd.slow_ns          = number("ODD_CLOCK_SLOW_NS");
    odd.slow_from        = number("ODD_CLOCK_SLOW_FROM");
    odd.cpu_ns           = number("ODD_CLOCK_CPU_NS");
    odd.back_ns          = number("ODD_CLOCK_BACK_NS");
    odd.stall_ns         = is_odd_rank() ? number("ODD_CLOCK_STALL_NS") : 0;
}

static long long real_ns(void)
{
    struct timespec now;

    (void) odd.real(CLOCK_MONOTONIC, &now);
    return (long long) now.tv_sec * 1000000000 + now.tv_nsec;
}

static void spin(long ns)
{
    const long long until_ns = real_ns() + ns;

    while (ns > 0 && real_ns() < until_ns)
        ;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    if (odd.real == NULL)
        begin();
    if (clock == CLOCK_PROCESS_CPUTIME_ID) {
        spin(odd.cpu_ns);
        return odd.real(clock, time);
    }
    odd.readings++;
    odd.raw_readings += clock == CLOCK_MONOTONIC_RAW;
    if (odd.raw_readings >= odd.slow_from)
        spin(odd.slow_ns);
    if (odd.readings % STALL_EVERY == 0)
        spin(odd.stall_ns);
    const int status = odd.real(clock, time);

    if (status == 0 && odd.readings % BACK_EVERY == 0)
        time->tv_nsec = time->tv_nsec > odd.back_ns ? time->tv_nsec - odd.back_ns : 0;
    return status;
}
