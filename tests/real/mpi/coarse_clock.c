/* coarse_clock - preloaded: every clock goes in steps of COARSE_STEP_NS, as clocks of other
 * machines do, some in steps of 10 ns and some of 1 us. */
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

typedef int reader(clockid_t, struct timespec *);

static reader *real;
static long    step_ns;

__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv("COARSE_STEP_NS");

    *(void **) &real = dlsym(RTLD_NEXT, "clock_gettime");
    step_ns          = text != NULL ? atol(text) : 1;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    if (real == NULL)
        begin();
    const int status = real(clock, time);

    if (status == 0)
        time->tv_nsec -= time->tv_nsec % step_ns;
    return status;
}
