/* rounds - series of rounds, timed.  With together.c, the only timed code. */
#include "kernel.h"

#include <stdlib.h>
#include <string.h>

enum { BASELINES = 51 };

/* ---- Memory of a series ---------------------------------------------------------------------- */

/* Touched now, so that no sample pays for a page. */
static void *touched(int count, size_t bytes)
{
    void *data = malloc((size_t) count * bytes);

    if (data == NULL)
        MG_DIE("no memory for %d samples", count);
    memset(data, 0, (size_t) count * bytes);
    return data;
}

void mg_rounds_make(struct mg_rounds *rounds, int room)
{
    *rounds = (struct mg_rounds){.room       = room,
                                 .samples_ns = touched(room + 1, sizeof(int64_t)),
                                 .skew_ns    = touched(room, sizeof(int64_t)),
                                 .root_ns    = touched(room, sizeof(int64_t)),
                                 .local_ns   = touched(room, sizeof(int64_t)),
                                 .late       = touched(room, sizeof(bool))};
}

void mg_rounds_free(struct mg_rounds *rounds)
{
    free(rounds->samples_ns);
    free(rounds->skew_ns);
    free(rounds->root_ns);
    free(rounds->local_ns);
    free(rounds->late);
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

/* ---- Timed code ------------------------------------------------------------------------------ */

typedef void (*call_fn)(struct mg_state *state);

static void run_warm(call_fn call, struct mg_state *state, int batch, int rounds,
                     int64_t *stamps_ns)
{
    stamps_ns[0] = mg_now_ns();
    for (int i = 1; i <= rounds; i++) {
        for (int b = 0; b < batch; b++)
            call(state);
        stamps_ns[i] = mg_now_ns();
    }
}

/* The same through buffers that have left the cache by the time they are used again. */
static void run_cold(call_fn call, struct mg_state *state, struct mg_walk *walk, int batch,
                     int rounds, int64_t *stamps_ns)
{
    stamps_ns[0] = mg_now_ns();
    for (int i = 1; i <= rounds; i++) {
        for (int b = 0; b < batch; b++) {
            call(state);
            mg_walk_on(walk, state);
        }
        stamps_ns[i] = mg_now_ns();
    }
}

static void run_prepared(call_fn prepare, call_fn call, struct mg_state *state, int rounds,
                         int64_t *samples_ns)
{
    for (int i = 0; i < rounds; i++) {
        prepare(state);
        const int64_t begin_ns = mg_now_ns();
        call(state);
        samples_ns[i] = mg_now_ns() - begin_ns;
    }
}

/* One round trip without content between the root and the rank whose turn it is: the median of
 * some, since a single one may have been interrupted. */
static int64_t time_baseline(call_fn baseline, struct mg_state *state)
{
    int64_t stamps_ns[BASELINES + 1];

    run_warm(baseline, state, 1, BASELINES, stamps_ns);
    for (int i = 0; i < BASELINES; i++)
        stamps_ns[i] = stamps_ns[i + 1] - stamps_ns[i];
    return mg_median_of(stamps_ns, BASELINES);
}

/* A sample is the time of `batch` calls: the largest over all turns of what they took, less half of
 * the empty round trip that is in each (de Supinski and Karonis, HPDC 1999). */
static void run_turns(call_fn baseline, call_fn call, struct mg_state *state, int batch, int rounds,
                      int64_t *samples_ns)
{
    memset(samples_ns, 0, (size_t) rounds * sizeof *samples_ns);
    for (state->turn = 1; state->turn < state->ranks; state->turn++) {
        const int64_t trip_ns = time_baseline(baseline, state);

        for (int i = 0; i < rounds; i++) {
            const int64_t begin_ns = mg_now_ns();
            for (int b = 0; b < batch; b++)
                call(state);
            const int64_t time_ns = mg_now_ns() - begin_ns - batch * trip_ns / 2;

            samples_ns[i] = time_ns > samples_ns[i] ? time_ns : samples_ns[i];
        }
        mg_handshake(state->comm); /* the ranks whose turn it is not may be behind */
    }
    state->turn = 1; /* the check that follows is a call, too */
}

/* ---- A series -------------------------------------------------------------------------------- */

static void run_chained(const struct mg_visit *visit, struct mg_state *state, struct mg_walk *walk,
                        int batch, int count, struct mg_rounds *rounds)
{
    int64_t *stamps_ns = rounds->samples_ns;

    if (walk->slots > 1)
        run_cold(visit->mode->call, state, walk, batch, count, stamps_ns);
    else
        run_warm(visit->mode->call, state, batch, count, stamps_ns);
    for (int i = 0; i < count; i++)
        stamps_ns[i] = stamps_ns[i + 1] - stamps_ns[i];
}

void mg_rounds_run(const struct mg_visit *visit, struct mg_state *state, struct mg_walk *walk,
                   int batch, int count, int64_t limit_ns, struct mg_rounds *rounds)
{
    const struct mg_pattern *pattern = visit->pattern;

    if (pattern->sampling == MG_COMMON) {
        mg_together_run(visit, state, walk, count, limit_ns, rounds);
        return;
    }
    const int64_t cpu_start_ns = mg_cpu_ns();
    const int64_t begin_ns     = mg_now_ns();

    if (pattern->sampling == MG_PREPARED)
        run_prepared(pattern->prepare, visit->mode->call, state, count, rounds->samples_ns);
    else if (pattern->sampling == MG_ACKED)
        run_turns(pattern->baseline, visit->mode->call, state, batch, count, rounds->samples_ns);
    else
        run_chained(visit, state, walk, batch, count, rounds);

    rounds->count      = count;
    rounds->late_count = 0;
    rounds->left_early = 0;
    rounds->elapsed_ns = mg_now_ns() - begin_ns;
    /* Preparations and empty round trips cost, too, and are in no sample. */
    rounds->cpu_ns = pattern->sampling == MG_PREPARED || pattern->sampling == MG_ACKED
                         ? -1
                         : mg_cpu_ns() - cpu_start_ns;
}
