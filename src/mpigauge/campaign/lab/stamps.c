/* stamps - when packets arrived, by the kernel's timestamps. */
#include "stamps.h"

#include "topology.h"

#include <string.h>
#include <time.h>

enum {
    PAIRS    = 8,
    CLOSE_NS = 2 * 1000, /* between two readings of a clock: not interrupted */
};

static int64_t time_ns(const struct timespec *time)
{
    return (int64_t) time->tv_sec * LAB_SECOND_NS + time->tv_nsec;
}

static int64_t read_ns(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return time_ns(&time);
}

int64_t lab_now_ns(void)
{
    return read_ns(CLOCK_MONOTONIC);
}

/* How far the clock of timestamps is ahead of ours. An interruption between two readings would look
 * like a shift, and deliver a packet too early: so the closest of a few pairs is used. */
static int64_t ahead_ns(void)
{
    int64_t least_ns = INT64_MAX;
    int64_t found_ns = 0;

    for (int pair = 0; pair < PAIRS && least_ns > CLOSE_NS; pair++) {
        const int64_t before_ns = lab_now_ns();
        const int64_t stamp_ns  = read_ns(CLOCK_REALTIME);
        const int64_t took_ns   = lab_now_ns() - before_ns;

        if (took_ns < least_ns) {
            least_ns = took_ns;
            found_ns = stamp_ns - before_ns - took_ns;
        }
    }
    return found_ns;
}

int64_t lab_stamped_ns(struct msghdr *message)
{
    const int64_t shift_ns = ahead_ns();
    const int64_t now_ns   = lab_now_ns();
    int64_t       at_ns    = now_ns;

    for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part))
        if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_TIMESTAMPNS) {
            struct timespec stamp;

            memcpy(&stamp, CMSG_DATA(part), sizeof stamp);
            at_ns = time_ns(&stamp) - shift_ns;
        }
    /* Setting the machine's clock must not stop or reorder packets. */
    return at_ns > now_ns || at_ns < now_ns - LAB_SECOND_NS ? now_ns : at_ns;
}
