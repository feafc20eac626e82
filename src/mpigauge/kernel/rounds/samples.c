/* samples - memory for what a series of rounds gives. */
#include "rounds/samples.h"

#include "ranks/abort.h"

#include <stdlib.h>
#include <string.h>

/* Touched now, so that no sample pays for a page. */
static void *touched(int count, size_t bytes)
{
    void *data = malloc((size_t) count * bytes);

    if (data == NULL)
        MG_DIE("no memory for %d samples", count);
    memset(data, 0, (size_t) count * bytes);
    return data;
}

void mg_rounds_make(struct mg_rounds *rounds, int room, void (*alive)(void))
{
    *rounds = (struct mg_rounds){.room       = room,
                                 .alive      = alive,
                                 .samples_ns = touched(room + 1, sizeof(int64_t)),
                                 .skew_ns    = touched(room, sizeof(int64_t)),
                                 .root_ns    = touched(room, sizeof(int64_t)),
                                 .local_ns   = touched(room, sizeof(int64_t)),
                                 .late       = touched(room, sizeof(bool)),
                                 .behind     = touched(room, sizeof(bool))};
}

void mg_rounds_free(struct mg_rounds *rounds)
{
    free(rounds->samples_ns);
    free(rounds->skew_ns);
    free(rounds->root_ns);
    free(rounds->local_ns);
    free(rounds->late);
    free(rounds->behind);
    *rounds = (struct mg_rounds){0};
}

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *) a;
    const int64_t y = *(const int64_t *) b;

    return (x > y) - (x < y);
}

int64_t mg_median_of(const int64_t *values, int count)
{
    int64_t *sorted = malloc((size_t) count * sizeof *sorted);

    if (sorted == NULL)
        MG_DIE("no memory for %d samples", count);
    memcpy(sorted, values, (size_t) count * sizeof *sorted);
    qsort(sorted, (size_t) count, sizeof *sorted, by_value);
    const int64_t median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
    free(sorted);
    return median;
}

int mg_clamp(int64_t *values, int count)
{
    int backwards = 0;

    for (int i = 0; i < count; i++)
        if (values[i] < 0) {
            values[i] = 0;
            backwards++;
        }
    return backwards;
}
