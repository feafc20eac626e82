/* rounds - timed series of rounds.  With common_start.c, the only timed code. */
#include "rounds/rounds.h"

#include "clock/clock.h"
#include "ranks/groups.h"

#include <string.h>

enum { BASELINES = 9, TRIPS_OF_ANSWER = 4 };

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

/* The same, walking through buffers that have left the cache by the time they are used again. */
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

/* The median of some blocks, since one may have been interrupted. */
static int64_t time_blocks(call_fn call, struct mg_state *state, int batch)
{
    int64_t stamps_ns[BASELINES + 1];

    run_warm(call, state, batch, BASELINES, stamps_ns);
    for (int i = 0; i < BASELINES; i++)
        stamps_ns[i] = stamps_ns[i + 1] - stamps_ns[i];
    return mg_median_of(stamps_ns, BASELINES);
}

/* The time of as many empty round trips between the root and the acknowledging rank as a sample has
 * calls, without the cost of reading the clock, which stays in the sample as in all others. */
static int64_t time_baseline(call_fn baseline, struct mg_state *state, int batch)
{
    return time_blocks(baseline, state, batch) - time_blocks(baseline, state, 0);
}

/* The time of an empty message: half a round trip. */
static int64_t time_answer(call_fn baseline, struct mg_state *state)
{
    return time_baseline(baseline, state, TRIPS_OF_ANSWER) / TRIPS_OF_ANSWER / 2;
}

static void run_prepared(call_fn prepare, call_fn call, struct mg_state *state, int batch,
                         int rounds, int64_t answer_ns, int64_t *samples_ns)
{
    for (int i = 0; i < rounds; i++) {
        prepare(state);
        const int64_t begin_ns = mg_now_ns();
        for (int b = 0; b < batch; b++)
            call(state);
        samples_ns[i] = mg_now_ns() - begin_ns - answer_ns;
    }
}

/* Samples of one turn: the time of `batch` calls less half of as many empty round trips (de
 * Supinski and Karonis, HPDC 1999). */
static void run_turn(call_fn baseline, call_fn call, struct mg_state *state, int batch, int rounds,
                     int64_t *samples_ns)
{
    const int64_t trips_ns = time_baseline(baseline, state, batch);

    for (int i = 0; i < rounds; i++) {
        const int64_t begin_ns = mg_now_ns();
        for (int b = 0; b < batch; b++)
            call(state);
        samples_ns[i] = mg_now_ns() - begin_ns - trips_ns / 2;
    }
    mg_handshake(state->comm); /* ranks that do not acknowledge may be behind */
}

/* Keeps the samples of the turn with the largest median: the maximum over turns of single samples
 * would pick disturbances. */
static void run_turns(call_fn baseline, call_fn call, struct mg_state *state, int batch, int count,
                      struct mg_rounds *rounds)
{
    int64_t *turn_ns    = rounds->skew_ns; /* not used otherwise here */
    int64_t  slowest_ns = INT64_MIN;

    for (state->turn = 1; state->turn < state->ranks; state->turn++) {
        run_turn(baseline, call, state, batch, count, turn_ns);
        const int64_t median_ns = mg_median_of(turn_ns, count);

        if (median_ns > slowest_ns) {
            memcpy(rounds->samples_ns, turn_ns, (size_t) count * sizeof *turn_ns);
            slowest_ns = median_ns;
        }
        rounds->heartbeat();
    }
    state->turn = 1; /* for the call that checks the payload */
}

/* ---- Series ---------------------------------------------------------------------------------- */

static void finish(struct mg_rounds *rounds, int count, int64_t calls, int64_t begin_ns,
                   int64_t cpu_begin_ns)
{
    rounds->count      = count;
    rounds->calls      = calls;
    rounds->late_count = 0;
    rounds->left_early = 0;
    rounds->elapsed_ns = mg_now_ns() - begin_ns;
    rounds->cpu_ns     = mg_cpu_ns() - cpu_begin_ns;
}

void mg_rounds_chained(const struct mg_visit *visit, struct mg_state *state, struct mg_walk *walk,
                       int batch, int count, int64_t limit_ns, struct mg_rounds *rounds)
{
    const int64_t cpu_begin_ns = mg_cpu_ns();
    const int64_t begin_ns     = mg_now_ns();
    int64_t      *stamps_ns    = rounds->samples_ns;

    (void) limit_ns;
    if (walk->slots > 1)
        run_cold(visit->mode->call, state, walk, batch, count, stamps_ns);
    else
        run_warm(visit->mode->call, state, batch, count, stamps_ns);
    for (int i = 0; i < count; i++)
        stamps_ns[i] = stamps_ns[i + 1] - stamps_ns[i];
    finish(rounds, count, (int64_t) batch * count, begin_ns, cpu_begin_ns);
}

void mg_rounds_prepared(const struct mg_visit *visit, struct mg_state *state, struct mg_walk *walk,
                        int batch, int count, int64_t limit_ns, struct mg_rounds *rounds)
{
    const call_fn baseline     = visit->pattern->baseline;
    const int64_t answer_ns    = baseline != NULL ? time_answer(baseline, state) : 0;
    const int64_t cpu_begin_ns = mg_cpu_ns();
    const int64_t begin_ns     = mg_now_ns();

    (void) walk;
    (void) limit_ns;
    state->calls = batch;
    run_prepared(visit->mode->prepare != NULL ? visit->mode->prepare : visit->pattern->prepare,
                 visit->mode->call, state, batch, count, answer_ns, rounds->samples_ns);
    finish(rounds, count, (int64_t) batch * count, begin_ns, cpu_begin_ns);
}

void mg_rounds_acked(const struct mg_visit *visit, struct mg_state *state, struct mg_walk *walk,
                     int batch, int count, int64_t limit_ns, struct mg_rounds *rounds)
{
    const int64_t cpu_begin_ns = mg_cpu_ns();
    const int64_t begin_ns     = mg_now_ns();

    (void) walk;
    (void) limit_ns;
    run_turns(visit->pattern->baseline, visit->mode->call, state, batch, count, rounds);
    finish(rounds, count, (int64_t) batch * count * (state->ranks - 1), begin_ns, cpu_begin_ns);
}
