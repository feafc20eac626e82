/* common_start - rounds that all ranks start together (docs/method.md#a-round).
 *
 * Rank 0 names a moment of the global clock, the others wait for it, and the time of a round is
 * that from the first start to the last end.  No round is dropped because it was slow: whether a
 * rank was late is known before the operation begins. */
#include "rounds/common_start.h"

#include "clock/clock.h"
#include "clock/global_clock.h"
#include "ranks/abort.h"
#include "ranks/groups.h"
#include "rounds/stamps.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAD_TRIALS  = 5,
    LEAD_FACTOR  = 3,
    LATE_ONE_IN  = 10, /* more late rounds than that: a longer lead, and once more */
    DOUBLINGS    = 4,
    MAX_GROUPS   = 64,
    CPU_TRIALS   = 101,
    SIGNAL_BYTES = 8,
};

static const int64_t stop           = -1;
static const int64_t cpu_margin_ns  = 3000; /* before the start: time to read the CPU clock */
static const int64_t cpu_least_ns   = 1500; /* less than that is left: do not */
static const int64_t behind_most_ns = 500;  /* after the start: something else had the core */
static const int64_t lead_least_ns  = 4000;
static const int64_t lead_most_ns = 50000000; /* a rank that is later than that is not waited for */

static struct {
    struct mg_stamp *stamps; /* one place a round, touched */
    int              room;
    int64_t          cpu_reading_ns; /* what reading the CPU clock costs; 0 = not known yet */
    struct {
        int     ranks;
        int64_t lead_ns;
    } leads[MAX_GROUPS];
} own;

/* ---- The word that starts a round ------------------------------------------------------------ */

/* From rank 0 along a binomial tree of our own, the same for all MPI libraries. */
static void spread(const struct mg_state *state, int64_t *word)
{
    int mask = 1;

    while (mask < state->ranks && (state->rank & mask) == 0)
        mask *= 2;
    if (state->rank != 0)
        MG_MPI(MPI_Recv(word, SIGNAL_BYTES, MPI_BYTE, state->rank - mask, MG_TAG_CONTROL,
                        state->comm, MPI_STATUS_IGNORE));
    for (mask /= 2; mask > 0; mask /= 2)
        if (state->rank + mask < state->ranks)
            MG_MPI(MPI_Send(word, SIGNAL_BYTES, MPI_BYTE, state->rank + mask, MG_TAG_CONTROL,
                            state->comm));
}

static int64_t global_now_ns(void)
{
    return mg_global_of(mg_now_ns());
}

/* Three times what the word needs to the slowest rank, and time to read the CPU clock. */
static int64_t measure_lead(const struct mg_state *state)
{
    int64_t times_ns[LEAD_TRIALS];
    int64_t slowest_ns = 0;

    for (int i = 0; i < LEAD_TRIALS; i++) {
        int64_t sent_ns = 0;

        mg_handshake(state->comm);
        sent_ns = global_now_ns();
        spread(state, &sent_ns);
        times_ns[i] = global_now_ns() - sent_ns;
    }
    const int64_t median_ns = mg_median_of(times_ns, LEAD_TRIALS);
    MG_MPI(MPI_Allreduce(&median_ns, &slowest_ns, 1, MPI_INT64_T, MPI_MAX, state->comm));
    return LEAD_FACTOR * slowest_ns + cpu_margin_ns;
}

/* Measured anew for every series, since one bad moment would make all rounds after it long; but not
 * where ranks wait for their cores: there it is learned from the rounds themselves. */
static int64_t *lead_of(const struct mg_state *state)
{
    int i = 0;

    while (i < MAX_GROUPS - 1 && own.leads[i].ranks != 0 && own.leads[i].ranks != state->ranks)
        i++;
    if (own.leads[i].ranks != state->ranks || !mg_crowded(state->ranks)) {
        own.leads[i].ranks   = state->ranks;
        own.leads[i].lead_ns = measure_lead(state);
    }
    return &own.leads[i].lead_ns;
}

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
static bool is_late(bool late_here, int64_t behind_ns, bool crowded)
{
    return late_here || (!crowded && behind_ns > behind_most_ns);
}

static void round_in_common(void (*call)(struct mg_state *), struct mg_state *state,
                            struct mg_stamps *series, int64_t start_ns, bool crowded)
{
    struct mg_stamp *stamp    = &series->stamps[series->count];
    const int64_t    local_ns = mg_local_of(start_ns);
    int64_t          cpu_ns   = -1;
    int64_t          read_ns  = 0;

    const bool late_here = mg_now_ns() >= local_ns;
    wait_until(local_ns - cpu_margin_ns, crowded);
    if (mg_now_ns() < local_ns - cpu_least_ns) {
        cpu_ns  = mg_cpu_ns();
        read_ns = mg_now_ns();
    }
    int64_t begin_ns = mg_now_ns();
    while (begin_ns < local_ns)
        begin_ns = mg_now_ns();
    call(state);
    stamp->end_ns   = mg_now_ns();
    stamp->begin_ns = begin_ns;
    stamp->late     = is_late(late_here, begin_ns - local_ns, crowded);
    if (cpu_ns >= 0)
        add_cpu(series, cpu_since(cpu_ns, read_ns, begin_ns));
}

static void round_after_barrier(void (*call)(struct mg_state *), struct mg_state *state,
                                struct mg_stamps *series, enum mg_start start)
{
    struct mg_stamp *stamp = &series->stamps[series->count];

    if (start == MG_START_MPI_BARRIER)
        MG_MPI(MPI_Barrier(state->comm));
    else
        mg_handshake(state->comm);
    stamp->begin_ns = mg_now_ns();
    call(state);
    stamp->end_ns = mg_now_ns();
    stamp->late   = false;
}

/* ---- A series -------------------------------------------------------------------------------- */

static void series_make(struct mg_stamps *series, int count)
{
    if (count > own.room) {
        free(own.stamps);
        own.stamps = malloc((size_t) count * sizeof *own.stamps);
        if (own.stamps == NULL)
            MG_DIE("no memory for the stamps of %d rounds", count);
        own.room = count;
        memset(own.stamps, 0, (size_t) count * sizeof *own.stamps);
    }
    *series = (struct mg_stamps){.stamps = own.stamps};
}

void mg_common_start_free(void)
{
    free(own.stamps);
    own.stamps = NULL;
    own.room   = 0;
}

/* Rank 0's word: when the next round starts, or that there is none. */
static int64_t next_start(const struct mg_state *state, int64_t lead_ns, bool more)
{
    int64_t word = state->rank == 0 && more ? global_now_ns() + lead_ns : stop;

    spread(state, &word);
    return word;
}

static void run_series(const struct mg_visit *visit, struct mg_state *state, struct mg_walk *walk,
                       int count, int64_t limit_ns, int64_t lead_ns, struct mg_stamps *series)
{
    const bool    crowded = mg_crowded(state->ranks);
    const int64_t end_ns  = mg_now_ns() + limit_ns;

    series_make(series, count);
    for (;;) {
        const bool more = series->count < count && (series->count == 0 || mg_now_ns() < end_ns);

        /* Else rank 0's word would arrive while others still work on the last round. */
        mg_handshake(state->comm);
        const int64_t start_ns = next_start(state, lead_ns, more);
        if (start_ns == stop)
            return;
        if (visit->start == MG_START_COMMON)
            round_in_common(visit->mode->call, state, series, start_ns, crowded);
        else
            round_after_barrier(visit->mode->call, state, series, visit->start);
        series->count++;
        if (visit->root < 0)
            state->root = (state->root + 1) % state->ranks;
        if (walk->slots > 1)
            mg_walk_on(walk, state);
    }
}

/* ---- A visit ------------------------------------------------------------------------------- */

/* What the next series is to have: longer where too many were late, shorter where none was. */
static int64_t next_lead(const struct mg_visit *visit, const struct mg_state *state,
                         const struct mg_rounds *rounds)
{
    int64_t lead_ns = rounds->lead_ns;

    if (visit->start != MG_START_COMMON)
        return lead_ns;
    if (rounds->late_count * LATE_ONE_IN > rounds->count)
        lead_ns = 2 * lead_ns < lead_most_ns ? 2 * lead_ns : lead_most_ns;
    else if (rounds->late_count == 0 && rounds->count >= LATE_ONE_IN)
        lead_ns = 3 * lead_ns / 4 > lead_least_ns ? 3 * lead_ns / 4 : lead_least_ns;
    mg_share(state->comm, &lead_ns, sizeof lead_ns);
    return lead_ns;
}

void mg_rounds_common(const struct mg_visit *visit, struct mg_state *state, struct mg_walk *walk,
                      int batch, int count, int64_t limit_ns, struct mg_rounds *rounds)
{
    int64_t         *lead_ns_p = lead_of(state);
    struct mg_stamps series;

    (void) batch;
    for (int i = 0;; i++) {
        const int     root     = state->root;
        const int64_t begin_ns = mg_now_ns();

        run_series(visit, state, walk, count, limit_ns, *lead_ns_p, &series);
        rounds->elapsed_ns = mg_now_ns() - begin_ns;
        rounds->lead_ns    = *lead_ns_p;
        mg_stamps_collect(&series, visit, state, root, rounds);
        *lead_ns_p = next_lead(visit, state, rounds);
        if (i == DOUBLINGS || *lead_ns_p <= rounds->lead_ns)
            return;
    }
}
