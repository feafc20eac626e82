/* common_start - rounds that all ranks start together (docs/method-collectives.md#a-round).
 *
 * Rank 0 names a moment of the global clock, the others wait for it, and the time of a round is
 * that from the first start to the last end.  No round is dropped because it was slow: whether a
 * rank was late is known before the operation begins. */
#include "rounds/common_start.h"

#include "clock/clock.h"
#include "clock/global_clock.h"
#include "ranks/abort.h"
#include "ranks/crowding.h"
#include "ranks/groups.h"
#include "rounds/lead.h"
#include "rounds/stamps.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum {
    DOUBLINGS  = 4,
    CPU_TRIALS = 101,
    CPU_ONE_IN = 16, /* rounds of a short operation; in them CPU time is taken, and no sample */
};

static const int64_t stop           = -1;
static const int64_t cpu_margin_ns  = 3000;   /* before the start: time to read the CPU clock */
static const int64_t cpu_least_ns   = 1500;   /* less than that is left: do not */
static const int64_t cpu_slow_ns    = 300000; /* so long an operation does not feel the reading */
static const int64_t behind_most_ns = 500;    /* after the start: something else had the core */
static const int64_t absurd_ns      = 1000000000; /* no start is so far ahead: a clock is wrong */

static struct {
    struct mg_stamp *stamps; /* one place a round, touched */
    int              room;
    int64_t          cpu_reading_ns; /* what reading the CPU clock costs; 0 = not known yet */
    int64_t          last_visit;     /* whose rounds took `last_ns` in the median, on rank 0 */
    int64_t          last_ns;
} own = {.last_visit = -1};

/* ---- Timed code ------------------------------------------------------------------------------ */

static inline void wait_until(int64_t local_ns, bool crowded)
{
    while (mg_now_ns() < local_ns)
        if (crowded)
            (void) sched_yield(); /* the ranks that we wait for need this core */
}

/* CPU time of the operation alone: the clock is read a little before the start, and the rest of the
 * wait, which only burns time, is taken off. */
static int64_t cpu_since(int64_t cpu_ns, int64_t read_ns, int64_t begin_ns)
{
    const int64_t spun_ns = begin_ns - read_ns;

    return mg_cpu_ns() - cpu_ns - (spun_ns < cpu_margin_ns ? spun_ns : cpu_margin_ns);
}

/* The same of no operation at all: what these readings cost themselves. */
static int64_t measure_cpu_reading(void)
{
    int64_t costs_ns[CPU_TRIALS];

    for (int i = 0; i < CPU_TRIALS; i++) {
        const int64_t cpu_ns   = mg_cpu_ns();
        const int64_t read_ns  = mg_now_ns();
        const int64_t begin_ns = mg_now_ns();

        costs_ns[i] = cpu_since(cpu_ns, read_ns, begin_ns);
    }
    return mg_median_of(costs_ns, CPU_TRIALS);
}

static void add_cpu(struct mg_stamps *series, int64_t used_ns)
{
    if (own.cpu_reading_ns == 0)
        own.cpu_reading_ns = measure_cpu_reading();
    series->cpu_ns += used_ns > own.cpu_reading_ns ? used_ns - own.cpu_reading_ns : 0;
    series->cpu_rounds++;
}

/* Known before the operation begins, so that leaving late rounds out cannot select fast ones. Where
 * ranks share cores, each waits for its turn, and all rounds would be late. */
static int64_t lateness_of(bool told_late, int64_t behind_ns, bool crowded)
{
    if (told_late)
        return MG_LATE_TOLD;
    return !crowded && behind_ns > behind_most_ns ? MG_LATE_BEHIND : 0;
}

/* A sample of one call is that call and no loop around it. */
static inline void call_in_a_row(void (*call)(struct mg_state *), struct mg_state *state, int batch)
{
    call(state);
    while (--batch > 0)
        call(state);
}

static void round_in_common(void (*call)(struct mg_state *), struct mg_state *state,
                            struct mg_stamps *series, struct mg_stamp *stamp,
                            const struct mg_word *word, bool crowded)
{
    int64_t       local_ns = mg_local_of(word->start_ns);
    const int64_t ahead_ns = local_ns - mg_now_ns();
    int64_t       cpu_ns   = -1;
    int64_t       read_ns  = 0;

    const bool told_late = ahead_ns <= 0 || ahead_ns > absurd_ns;
    if (told_late)
        local_ns = mg_now_ns();
    wait_until(local_ns - cpu_margin_ns, crowded);
    if (word->with_cpu && mg_now_ns() < local_ns - cpu_least_ns) {
        cpu_ns  = mg_cpu_ns();
        read_ns = mg_now_ns();
    }
    int64_t begin_ns = mg_now_ns();
    while (begin_ns < local_ns)
        begin_ns = mg_now_ns();
    call_in_a_row(call, state, series->batch);
    stamp->end_ns   = mg_now_ns();
    stamp->begin_ns = begin_ns;
    stamp->lateness = lateness_of(told_late, begin_ns - local_ns, crowded);
    if (cpu_ns >= 0)
        add_cpu(series, cpu_since(cpu_ns, read_ns, begin_ns));
}

static void round_after_barrier(void (*call)(struct mg_state *), struct mg_state *state, int batch,
                                struct mg_stamp *stamp, enum mg_start start)
{
    if (start == MG_START_MPI_BARRIER)
        MG_MPI(MPI_Barrier(state->comm));
    else
        mg_handshake(state->comm);
    stamp->begin_ns = mg_now_ns();
    call_in_a_row(call, state, batch);
    stamp->end_ns   = mg_now_ns();
    stamp->lateness = 0;
}

/* What a rank sends when it is done arrives while others are still at work.  So it waits as long as
 * the operation took before. */
static void stay_quiet(const struct mg_stamp *stamp, int64_t quiet_ns)
{
    while (mg_now_ns() < stamp->begin_ns + quiet_ns)
        ;
}

/* ---- A series -------------------------------------------------------------------------------- */

static void series_make(struct mg_stamps *series, int batch, int count)
{
    if (count > own.room) {
        free(own.stamps);
        own.stamps = malloc((size_t) count * sizeof *own.stamps);
        if (own.stamps == NULL)
            MG_DIE("no memory for the stamps of %d rounds", count);
        own.room = count;
        memset(own.stamps, 0, (size_t) count * sizeof *own.stamps);
    }
    *series = (struct mg_stamps){.stamps = own.stamps, .batch = batch};
}

void mg_common_start_free(void)
{
    free(own.stamps);
    own.stamps = NULL;
    own.room   = 0;
}

/* Rank 0's word of the next round.  Reading the CPU clock is a call of the system: a short
 * operation that follows it is another one, so rounds for CPU time are no samples there. */
static struct mg_word next_word(const struct mg_stamps *series, int64_t lead_ns, int64_t quiet_ns)
{
    const int64_t last = series->count - 1;
    const int64_t last_ns =
        last >= 0 ? series->stamps[last].end_ns - series->stamps[last].begin_ns : 0;
    const bool slow = last_ns > cpu_slow_ns;
    const bool due  = series->rounds % CPU_ONE_IN == CPU_ONE_IN / 2;

    return (struct mg_word){.start_ns = mg_global_of(mg_now_ns()) + lead_ns,
                            .quiet_ns = quiet_ns,
                            .with_cpu = slow || due,
                            .extra    = !slow && due};
}

static bool make_round(const struct mg_visit *visit, struct mg_state *state,
                       const struct mg_word *word, struct mg_stamps *series)
{
    struct mg_stamp  unused = {0};
    struct mg_stamp *stamp  = word->extra ? &unused : &series->stamps[series->count];

    if (visit->start == MG_START_COMMON)
        round_in_common(visit->mode->call, state, series, stamp, word, mg_crowded_here(visit));
    else
        round_after_barrier(visit->mode->call, state, series->batch, stamp, visit->start);
    stay_quiet(stamp, word->quiet_ns);
    series->rounds++;
    return !word->extra;
}

static void run_series(const struct mg_visit *visit, struct mg_state *state, struct mg_walk *walk,
                       int count, int64_t limit_ns, int64_t lead_ns, int64_t quiet_ns,
                       struct mg_stamps *series)
{
    const int64_t end_ns = mg_now_ns() + limit_ns;

    for (;;) {
        const bool     more = series->count < count && (series->count == 0 || mg_now_ns() < end_ns);
        struct mg_word word = {.start_ns = stop};

        /* Else rank 0's word would arrive while others still work on the last round. */
        mg_handshake(state->comm);
        if (state->rank == 0 && more)
            word = next_word(series, lead_ns, quiet_ns);
        mg_word_spread(state, &word);
        if (word.start_ns == stop)
            return;
        if (make_round(visit, state, &word, series)) {
            series->count++;
            if (visit->root < 0)
                state->root = (state->root + 1) % state->ranks;
        }
        if (walk->slots > 1)
            mg_walk_on(walk, state);
    }
}

/* ---- A visit ------------------------------------------------------------------------------- */

static int64_t quiet_of(const struct mg_visit *visit)
{
    return own.last_visit == visit->id && !mg_crowded_anywhere(visit) ? own.last_ns : 0;
}

static void remember(const struct mg_visit *visit, const struct mg_rounds *rounds)
{
    own.last_visit = visit->id;
    own.last_ns    = mg_median_of(rounds->samples_ns, rounds->count);
}

void mg_rounds_common(const struct mg_visit *visit, struct mg_state *state, struct mg_walk *walk,
                      int batch, int count, int64_t limit_ns, struct mg_rounds *rounds)
{
    int64_t         *lead_ns_p = mg_lead_of(visit, state);
    struct mg_stamps series;

    rounds->elapsed_ns = 0;
    rounds->calls      = 0;
    for (int i = 0;; i++) {
        const int     root     = state->root;
        const int64_t begin_ns = mg_now_ns();

        series_make(&series, batch, count);
        run_series(visit, state, walk, count, limit_ns - rounds->elapsed_ns, *lead_ns_p,
                   quiet_of(visit), &series);
        rounds->elapsed_ns += mg_now_ns() - begin_ns;
        rounds->calls += series.rounds * batch;
        rounds->lead_ns = *lead_ns_p;
        mg_stamps_collect(&series, visit, state, root, rounds);
        if (state->rank == 0)
            remember(visit, rounds);
        rounds->alive();
        *lead_ns_p = mg_lead_next(visit, state, rounds, limit_ns);
        if (i == DOUBLINGS || *lead_ns_p <= rounds->lead_ns)
            return;
    }
}
