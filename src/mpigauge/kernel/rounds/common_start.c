/* common_start - rounds that all ranks start together (docs/method-collectives.md#a-round).
 *
 * Rank 0 names a time of the global clock and all ranks wait for it, or they meet in a barrier.  A
 * sample is the time from the first start to the last end.  No round is dropped because it was
 * slow: whether a rank is late is known before the operation begins. */
#include "rounds/common_start.h"

#include "clock/clock.h"
#include "clock/global_clock.h"
#include "ranks/abort.h"
#include "ranks/groups.h"
#include "ranks/oversubscribed.h"
#include "rounds/stamps.h"
#include "rounds/start_message.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum {
    DOUBLINGS  = 4,
    CPU_TRIALS = 101,
    CPU_ONE_IN = 16, /* rounds of a short operation measure CPU time instead of a sample */
};

static const int64_t stop          = -1;
static const int64_t cpu_margin_ns = 3000;   /* before the start: time to read the CPU clock */
static const int64_t cpu_least_ns  = 1500;   /* with less time left it is not read */
static const int64_t cpu_slow_ns   = 300000; /* longer operations are not affected by the reading */
static const int64_t behind_most_ns = 500;   /* later than that, something else had the core */
static const int64_t absurd_ns = 1000000000; /* a start further ahead means that a clock is wrong */

static struct {
    struct mg_stamp *stamps; /* one per round, touched */
    int              room;
    int64_t          cpu_reading_ns; /* what reading the CPU clock costs; 0 = not known yet */
    int64_t          last_visit;     /* id, on rank 0 */
    int64_t          last_ns;        /* median of its rounds */
} own = {.last_visit = -1};

/* ---- Timed code ------------------------------------------------------------------------------ */

static inline void wait_until(int64_t local_ns, bool oversubscribed)
{
    while (mg_now_ns() < local_ns)
        if (oversubscribed)
            (void) sched_yield(); /* other ranks need this core */
}

/* CPU time of the operation alone: the CPU clock is read a little before the start, and the time
 * that was spun until the start is subtracted. */
static int64_t cpu_since(int64_t cpu_ns, int64_t read_ns, int64_t begin_ns)
{
    const int64_t spun_ns = begin_ns - read_ns;

    return mg_cpu_ns() - cpu_ns - (spun_ns < cpu_margin_ns ? spun_ns : cpu_margin_ns);
}

/* The same without an operation: the cost of these readings. */
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

/* Known before the operation begins, so that dropping late rounds cannot select fast ones.  Where
 * ranks share cores, each waits for its turn, and all rounds would be late. */
static int64_t lateness_of(bool message_late, int64_t behind_ns, bool oversubscribed)
{
    if (message_late)
        return MG_LATE_MESSAGE;
    return !oversubscribed && behind_ns > behind_most_ns ? MG_LATE_BEHIND : 0;
}

/* A single call has no loop around it. */
static inline void call_in_a_row(void (*call)(struct mg_state *), struct mg_state *state, int batch)
{
    call(state);
    while (--batch > 0)
        call(state);
}

static void round_in_common(void (*call)(struct mg_state *), struct mg_state *state,
                            struct mg_stamps *series, struct mg_stamp *stamp,
                            const struct mg_start_message *message, bool oversubscribed)
{
    int64_t       local_ns = mg_local_of(message->start_ns);
    const int64_t ahead_ns = local_ns - mg_now_ns();
    int64_t       cpu_ns   = -1;
    int64_t       read_ns  = 0;

    const bool message_late = ahead_ns <= 0 || ahead_ns > absurd_ns;
    if (message_late)
        local_ns = mg_now_ns();
    wait_until(local_ns - cpu_margin_ns, oversubscribed);
    if (message->with_cpu && mg_now_ns() < local_ns - cpu_least_ns) {
        cpu_ns  = mg_cpu_ns();
        read_ns = mg_now_ns();
    }
    int64_t begin_ns = mg_now_ns();
    while (begin_ns < local_ns)
        begin_ns = mg_now_ns();
    call_in_a_row(call, state, series->batch);
    stamp->end_ns   = mg_now_ns();
    stamp->begin_ns = begin_ns;
    stamp->lateness = lateness_of(message_late, begin_ns - local_ns, oversubscribed);
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

/* A rank that is done sooner waits as long as the operation took in the last series, so that its
 * next message does not disturb ranks that still work.  Not where they may need it in MPI. */
static void wait_quiet(const struct mg_stamp *stamp, int64_t quiet_ns)
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
    mg_leads_free();
}

/* The start message of rank 0 for the next round.  Reading the CPU clock is a system call that
 * changes a short operation after it, so rounds that measure its CPU time are not samples. */
static struct mg_start_message next_start(const struct mg_stamps *series, int64_t lead_ns,
                                          int64_t quiet_ns)
{
    const int64_t last = series->count - 1;
    const int64_t last_ns =
        last >= 0 ? series->stamps[last].end_ns - series->stamps[last].begin_ns : 0;
    const bool slow = last_ns > cpu_slow_ns;
    const bool due  = series->rounds % CPU_ONE_IN == CPU_ONE_IN / 2;

    return (struct mg_start_message){.start_ns = mg_global_of(mg_now_ns()) + lead_ns,
                                     .quiet_ns = quiet_ns,
                                     .with_cpu = slow || due,
                                     .extra    = !slow && due};
}

static bool make_round(const struct mg_visit *visit, struct mg_state *state,
                       const struct mg_start_message *message, struct mg_stamps *series)
{
    struct mg_stamp  unused = {0};
    struct mg_stamp *stamp  = message->extra ? &unused : &series->stamps[series->count];

    if (visit->start == MG_START_COMMON)
        round_in_common(visit->mode->call, state, series, stamp, message,
                        mg_oversubscribed_here(visit));
    else
        round_after_barrier(visit->mode->call, state, series->batch, stamp, visit->start);
    wait_quiet(stamp, message->quiet_ns);
    series->rounds++;
    return !message->extra;
}

static void run_series(const struct mg_visit *visit, struct mg_state *state, struct mg_walk *walk,
                       int count, int64_t limit_ns, int64_t lead_ns, int64_t quiet_ns,
                       struct mg_stamps *series)
{
    const int64_t end_ns = mg_now_ns() + limit_ns;

    for (;;) {
        const bool more = series->count < count && (series->count == 0 || mg_now_ns() < end_ns);
        struct mg_start_message message = {.start_ns = stop};

        if (visit->mode->prepare != NULL)
            visit->mode->prepare(state);
        /* Otherwise the start message would arrive while others still work on the last round. */
        mg_handshake(state->starters.comm);
        if (state->starters.rank == 0 && more)
            message = next_start(series, lead_ns, quiet_ns);
        mg_start_message_spread(state, &message);
        if (message.start_ns == stop)
            return;
        if (make_round(visit, state, &message, series)) {
            series->count++;
            if (visit->root < 0)
                state->root = (state->root + 1) % state->ranks;
        }
        if (walk->slots > 1)
            mg_walk_on(walk, state);
    }
}

/* ---- A visit ------------------------------------------------------------------------------- */

/* One-sided operations of others may not end before their target enters MPI. */
static int64_t quiet_of(const struct mg_visit *visit)
{
    const bool knows = own.last_visit == visit->id;

    return knows && !visit->pattern->one_sided && !mg_oversubscribed_anywhere(visit) ? own.last_ns
                                                                                     : 0;
}

static void remember(const struct mg_visit *visit, const struct mg_rounds *rounds)
{
    own.last_visit = visit->id;
    own.last_ns    = mg_median_of(rounds->samples_ns, rounds->count);
}

/* Where several groups start together, the slowest of them decides how long all are quiet, and the
 * one with most late messages how long the lead is. */
static void agree(const struct mg_state *state, struct mg_rounds *rounds)
{
    enum { LAST_NS, LATE, WORDS };
    const bool reports     = state->rank == 0;
    int64_t    most[WORDS] = {[LAST_NS] = reports ? own.last_ns : 0,
                              [LATE]    = reports ? rounds->late_message_count : 0};

    MG_MPI(MPI_Allreduce(MPI_IN_PLACE, most, WORDS, MPI_INT64_T, MPI_MAX, state->starters.comm));
    own.last_ns                = most[LAST_NS];
    rounds->late_message_count = (int) most[LATE];
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
        if (state->starters.ranks > state->ranks)
            agree(state, rounds);
        rounds->heartbeat();
        *lead_ns_p = mg_lead_next(visit, state, rounds, limit_ns);
        if (i == DOUBLINGS || *lead_ns_p <= rounds->lead_ns)
            return;
    }
}
