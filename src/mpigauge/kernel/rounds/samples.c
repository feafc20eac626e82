/* samples - results of a series of rounds: their memory, medians. */
#include "rounds/samples.h"

#include "ranks/abort.h"

#include <stdlib.h>
#include <string.h>

/* Touches the memory, so that no sample includes a page fault. */
static void *touched(int count, size_t bytes)
{
    void *data = malloc((size_t) count * bytes);

    if (data == NULL)
        MG_DIE("no memory for %d samples", count);
    memset(data, 0, (size_t) count * bytes);
    return data;
}

void mg_rounds_make(struct mg_rounds *rounds, int room, void (*heartbeat)(void))
{
    *rounds = (struct mg_rounds){.room       = room,
                                 .heartbeat  = heartbeat,
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
    free(rounds->rank_ns);
    free(rounds->late);
    free(rounds->behind);
    *rounds = (struct mg_rounds){0};
}

void mg_rounds_fit_ranks(struct mg_rounds *rounds, int ranks)
{
    if (ranks <= rounds->rank_room)
        return;
    free(rounds->rank_ns);
    rounds->rank_ns   = touched(ranks, sizeof(int64_t));
    rounds->rank_room = ranks;
}

static void swap(int64_t *a, int64_t *b)
{
    const int64_t kept = *a;

    *a = *b;
    *b = kept;
}

/* The value with this index in sorted order; values before it are not larger afterwards (Hoare,
 * Algorithm 65, CACM 1961). */
static int64_t select_in(int64_t *values, int count, int place)
{
    for (int low = 0, high = count - 1; low < high;) {
        const int64_t pivot = values[low + (high - low) / 2];
        int           up = low, down = high;

        while (up <= down) {
            while (values[up] < pivot)
                up++;
            while (values[down] > pivot)
                down--;
            if (up <= down)
                swap(&values[up++], &values[down--]);
        }
        if (place > down && place < up)
            break;
        low  = place >= up ? up : low;
        high = place <= down ? down : high;
    }
    return values[place];
}

int64_t mg_median_in(int64_t *values, int count)
{
    const int     half  = count / 2;
    const int64_t upper = select_in(values, count, half);
    const int64_t lower = count % 2 == 1 ? upper : select_in(values, half, half - 1);

    return (lower + upper) / 2;
}

int64_t mg_median_of(const int64_t *values, int count)
{
    int64_t *copy = malloc((size_t) count * sizeof *copy);

    if (copy == NULL)
        MG_DIE("no memory for %d samples", count);
    memcpy(copy, values, (size_t) count * sizeof *copy);
    const int64_t median = mg_median_in(copy, count);
    free(copy);
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
