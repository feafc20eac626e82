/* bare_memory - memcpy in a loop between one pair of clock readings: what mpigauge's `memcpy` must
 * say, too.
 *
 *     bare_memory REPETITIONS BYTES:ROUNDS...
 *
 * Prints, for every repetition and size in turns, the size and the mean time of a copy in ns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PAGE_BYTES = 4096 };

static double now_ns(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (double) now.tv_sec * 1e9 + (double) now.tv_nsec;
}

static unsigned char *buffer(size_t bytes, int value)
{
    unsigned char *data = aligned_alloc(PAGE_BYTES, (bytes / PAGE_BYTES + 1) * PAGE_BYTES);

    if (data == NULL)
        exit(EXIT_FAILURE);
    memset(data, value, (bytes / PAGE_BYTES + 1) * PAGE_BYTES);
    return data;
}

static double time_copies(unsigned char *to, unsigned char *from, size_t bytes, long rounds)
{
    const double begin_ns = now_ns();

    for (long i = 0; i < rounds; i++) {
        memcpy(to, from, bytes);
        __asm__ volatile("" : : "r"(to), "r"(from) : "memory");
    }
    return (now_ns() - begin_ns) / (double) rounds;
}

int main(int argc, char **argv)
{
    for (long repetition = argc > 1 ? atol(argv[1]) : 0; repetition > 0; repetition--)
        for (int i = 2; i < argc; i++) {
            char          *colon  = NULL;
            const size_t   bytes  = strtoul(argv[i], &colon, 10);
            const long     rounds = atol(colon + 1);
            unsigned char *from   = buffer(bytes, 1);
            unsigned char *to     = buffer(bytes, 2);

            (void) time_copies(to, from, bytes, rounds / 10 + 1);
            printf("%zu %.3f\n", bytes, time_copies(to, from, bytes, rounds));
            free(from);
            free(to);
        }
    return EXIT_SUCCESS;
}
