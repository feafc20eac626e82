/* page_offsets - copies a -> b -> c, as a message through shared memory is copied twice, with c at
 * other places of its page than a and b: what buffers that are congruent within pages cost.
 *
 *     cc -O2 -o page_offsets page_offsets.c && ./page_offsets
 *
 * Prints, for every size, the median time of both copies with c at the same place, and the times
 * with c shifted over it; all shifts in turns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PAGE_BYTES = 4096, ROUNDS = 400, LEAST_BYTES = 65536, MOST_BYTES = 4 << 20 };

static const size_t shifts_bytes[] = {0, 64, 256, 2112, 4032};

enum { SHIFTS = sizeof shifts_bytes / sizeof *shifts_bytes };

static double now_ns(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (double) now.tv_sec * 1e9 + (double) now.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *) a;
    const double y = *(const double *) b;

    return (x > y) - (x < y);
}

static unsigned char *buffer(int value)
{
    unsigned char *data = aligned_alloc(PAGE_BYTES, MOST_BYTES + PAGE_BYTES);

    if (data == NULL)
        exit(EXIT_FAILURE);
    memset(data, value, MOST_BYTES + PAGE_BYTES);
    return data;
}

/* So often that the clock is nothing. */
static double time_copies(unsigned char *const *buffers, size_t shift_bytes, size_t bytes)
{
    const size_t   copies   = 1 + LEAST_BYTES / bytes;
    unsigned char *last     = buffers[2] + shift_bytes;
    const double   begin_ns = now_ns();

    for (size_t i = 0; i < copies; i++) {
        memcpy(buffers[1], buffers[0], bytes);
        memcpy(last, buffers[1], bytes);
        __asm__ volatile("" ::"r"(last) : "memory");
    }
    return (now_ns() - begin_ns) / (double) copies;
}

int main(void)
{
    unsigned char *const buffers[] = {buffer(1), buffer(2), buffer(3)};
    static double        times_ns[SHIFTS][ROUNDS];

    for (size_t bytes = 64; bytes <= MOST_BYTES; bytes *= 4) {
        for (int i = 0; i < ROUNDS; i++)
            for (int k = 0; k < SHIFTS; k++)
                times_ns[k][i] = time_copies(buffers, shifts_bytes[k], bytes);
        for (int k = 0; k < SHIFTS; k++)
            qsort(times_ns[k], ROUNDS, sizeof *times_ns[k], by_value);
        (void) printf("%7zu B %9.1f ns", bytes, times_ns[0][ROUNDS / 2]);
        for (int k = 1; k < SHIFTS; k++)
            (void) printf("  %zu: %.3f", shifts_bytes[k],
                          times_ns[k][ROUNDS / 2] / times_ns[0][ROUNDS / 2]);
        (void) printf("\n");
    }
    return EXIT_SUCCESS;
}
