/* measure - the visits of a plan: trial, warm-up, timed rounds, check.  The only timed code. */
#include "kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    TRIALS      = 9,    /* single rounds that tell how long a round takes: */
    TRIALS_USED = 5,    /* the last of them; the first still pay for the change of cell */
    WARMUPS     = 2,    /* unrecorded in the statistics: the last cell left other data in caches */
    SETTLE_US   = 1000, /* for launcher and campaign to carry a line away before the next visit */
    WORDS_BYTES = 256,
};

static const int64_t tick_ns = 1000000000;

/* What is known of a cell in this launch; only rank 0 of its group uses it. */
struct cell {
    struct mg_series series;
    int              batch; /* 0: not tried yet */
    int              rounds;
    int64_t          round_ns;
    int64_t          spent_ns;
    bool             closed; /* corrupt or refused: not visited again */
};

/* What all ranks of the group must agree on before a visit. */
struct decision {
    int go;
    int batch;
    int rounds;
};

struct run {
    const struct mg_plan *plan;
    struct cell          *cells;
    int64_t               start_ns;
    int64_t              *warmups_ns; /* stamps of one visit, touched; durations once it is over */
    int64_t              *samples_ns;
    struct mg_clock_facts clock;
    struct mg_eager       eager;
    int                   rank;
};

/* ---- Timed code ------------------------------------------------------------------------------ */

static void run_warm(void (*call)(struct mg_state *), struct mg_state *state, int batch, int rounds,
                     int64_t *stamps_ns)
{
    stamps_ns[0] = mg_now_ns();
    for (int i = 1; i <= rounds; i++) {
        for (int b = 0; b < batch; b++)
            call(state);
        stamps_ns[i] = mg_now_ns();
    }
}

static inline void step(struct mg_walk *walk, struct mg_state *state)
{
    walk->slot  = walk->slot + 1 == walk->slots ? 0 : walk->slot + 1;
    state->send = walk->send_first + (size_t) walk->slot * walk->send_stride;
    state->recv = walk->recv_first + (size_t) walk->slot * walk->recv_stride;
}

/* The same through buffers that have left the cache by the time they are used again. */
static void run_cold(void (*call)(struct mg_state *), struct mg_state *state, struct mg_walk *walk,
                     int batch, int rounds, int64_t *stamps_ns)
{
    stamps_ns[0] = mg_now_ns();
    for (int i = 1; i <= rounds; i++) {
        for (int b = 0; b < batch; b++) {
            call(state);
            step(walk, state);
        }
        stamps_ns[i] = mg_now_ns();
    }
}

/* ---- A series of rounds ---------------------------------------------------------------------- */

static void run_rounds(const struct mg_visit *visit, struct mg_state *state, struct mg_walk *walk,
                       int batch, int rounds, int64_t *stamps_ns)
{
    if (walk->slots > 1)
        run_cold(visit->mode->call, state, walk, batch, rounds, stamps_ns);
    else
        run_warm(visit->mode->call, state, batch, rounds, stamps_ns);
}

static void begin(const struct mg_visit *visit, struct mg_state *state)
{
    mg_handshake(state->comm);
    if (visit->mode->begin != NULL)
        visit->mode->begin(state);
}

static void finish(const struct mg_visit *visit, struct mg_state *state)
{
    if (visit->mode->finish != NULL)
        visit->mode->finish(state);
    mg_handshake(state->comm); /* the partner's last message may still be under way */
}

/* Stamps become durations, in place. */
static void differences(int64_t *stamps_ns, int rounds)
{
    for (int i = 0; i < rounds; i++)
        stamps_ns[i] = stamps_ns[i + 1] - stamps_ns[i];
}

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *) a;
    const int64_t y = *(const int64_t *) b;

    return (x > y) - (x < y);
}

static int64_t median_of(const int64_t *values, int count)
{
    int64_t *sorted = malloc((size_t) count * sizeof *sorted);

    if (sorted == NULL)
        MG_DIE("no memory for %d samples", count);
    memcpy(sorted, values, (size_t) count * sizeof *sorted);
    qsort(sorted, (size_t) count, sizeof *sorted, by_value);
    const int64_t median = sorted[count / 2];
    free(sorted);
    return median;
}

/* ---- How long, how many ---------------------------------------------------------------------- */

static int64_t share_ns(const struct run *run)
{
    return run->plan->cell_ns / run->plan->visits_per_cell;
}

/* A first round, and unless it took too long eight more.
 * Slow rounds are told to the journal, so that a slow cell is not taken for a hanging one. */
static int try_rounds(const struct run *run, const struct mg_visit *visit, struct mg_state *state,
                      struct mg_walk *walk, int64_t *trial_ns)
{
    int trials = 0;

    for (int more = 1; more > 0;) {
        int64_t stamps_ns[TRIALS + 1];

        run_rounds(visit, state, walk, 1, more, stamps_ns);
        differences(stamps_ns, more);
        memcpy(trial_ns + trials, stamps_ns, (size_t) more * sizeof *stamps_ns);
        if (state->rank == 0 && stamps_ns[0] > tick_ns)
            mg_journal_tick(visit, stamps_ns[0]);
        trials += more;
        more = trials > 1 ? 0 : trial_ns[0] < MG_OVERDRAFT * share_ns(run) ? TRIALS - 1 : 0;
        mg_share(state->comm, &more, sizeof more);
    }
    return trials;
}

/* Fits batch and rounds to what a round takes; after every visit anew, since the trial may have met
 * a slow moment, and too small a batch would give the clock too large a share. */
static void size_up(const struct run *run, const struct mg_visit *visit, struct cell *cell,
                    int64_t round_ns)
{
    const int64_t share = share_ns(run);

    cell->round_ns = round_ns;
    cell->batch    = mg_batch_for(visit->pattern, round_ns, share, &run->clock);
    cell->rounds   = mg_rounds_for(run->plan, round_ns * cell->batch, share);
}

/* What one round takes by a trial, without the clock reading that each of its rounds contains. */
static int64_t round_of_trial(const struct run *run, const int64_t *trial_ns, int trials)
{
    const int     used     = trials < TRIALS_USED ? trials : TRIALS_USED;
    const int64_t round_ns = median_of(trial_ns + trials - used, used) - run->clock.cost_ns;

    return round_ns > 0 ? round_ns : 1;
}

/* ---- Stop rule ------------------------------------------------------------------------------- */

/* However alike the rounds of one visit are, they show one moment of the machine: a cell needs half
 * of its visits before precision may end it. */
static bool precise_enough(const struct mg_plan *plan, const struct mg_series *series)
{
    const struct mg_standing standing = mg_series_standing(series);

    return 2 * series->visits >= plan->visits_per_cell && series->count >= plan->rounds_min &&
           standing.effective >= 20 && standing.half_width <= plan->precision_ppm * 1e-6;
}

/* NULL, or why the visit is left out.  Asked between visits only, so it costs no sample. */
static const char *reason_to_skip(const struct run *run, const struct cell *cell)
{
    const struct mg_plan *plan = run->plan;

    if (cell->closed)
        return "closed";
    if (mg_now_ns() - run->start_ns >= plan->deadline_ns)
        return "time";
    if (cell->series.count >= plan->rounds_max || precise_enough(plan, &cell->series))
        return "precise";
    if (cell->spent_ns >= plan->cell_ns && cell->series.count > 0)
        return "share";
    return NULL;
}

/* ---- A visit --------------------------------------------------------------------------------- */

static int64_t expect_ns(const struct cell *cell)
{
    return cell->batch * cell->round_ns * (cell->rounds + WARMUPS);
}

static int64_t cpu_of_all(const struct mg_state *state, int64_t here_ns)
{
    int64_t total_ns = here_ns;

    MG_MPI(MPI_Allreduce(MPI_IN_PLACE, &total_ns, 1, MPI_INT64_T, MPI_SUM, state->comm));
    return total_ns;
}

/* Trial rounds on the first visit of a cell in this launch; afterwards all ranks know batch and
 * rounds. */
static int prepare(const struct run *run, const struct mg_visit *visit, struct mg_state *state,
                   struct mg_walk *walk, struct cell *cell, struct decision *decision,
                   int64_t *trial_ns)
{
    int trials = 0;

    if (decision->batch == 0) {
        begin(visit, state);
        trials = try_rounds(run, visit, state, walk, trial_ns);
        finish(visit, state);
        if (state->rank == 0)
            size_up(run, visit, cell, round_of_trial(run, trial_ns, trials));
    }
    decision->batch  = cell->batch;
    decision->rounds = cell->rounds;
    mg_share(state->comm, decision, sizeof *decision);
    return trials;
}

/* Rank 0 alone: stamps become samples, and all that is known of the visit goes to the journal. */
static void conclude(const struct run *run, const struct mg_visit *visit, struct cell *cell,
                     struct mg_outcome *outcome)
{
    differences(run->warmups_ns, WARMUPS);
    differences(run->samples_ns, outcome->samples);
    outcome->warmups    = WARMUPS;
    outcome->warmup_ns  = run->warmups_ns;
    outcome->samples_ns = run->samples_ns;
    outcome->elapsed_ns = mg_now_ns() - run->start_ns - outcome->at_ns;

    mg_series_append(&cell->series, run->samples_ns, outcome->samples, outcome->batch);
    outcome->standing = mg_series_standing(&cell->series);
    cell->spent_ns += outcome->elapsed_ns;
    cell->closed = outcome->corrupt != NULL;
    size_up(run, visit, cell, median_of(run->samples_ns, outcome->samples) / outcome->batch);
    mg_journal_visit(visit, outcome);
}

static void time_visit(struct run *run, const struct mg_visit *visit, struct mg_state *state,
                       struct cell *cell, struct decision *decision)
{
    int64_t           trial_ns[TRIALS];
    char              words[WORDS_BYTES];
    int               slots   = 1;
    struct mg_outcome outcome = {.at_ns = mg_now_ns() - run->start_ns, .trial_ns = trial_ns};

    mg_payload_prepare(visit, state, &slots);
    struct mg_walk walk = mg_payload_walk(visit, state, slots);
    outcome.trials      = prepare(run, visit, state, &walk, cell, decision, trial_ns);

    begin(visit, state);
    run_rounds(visit, state, &walk, decision->batch, WARMUPS, run->warmups_ns);
    const int64_t cpu_start_ns = mg_cpu_ns();
    run_rounds(visit, state, &walk, decision->batch, decision->rounds, run->samples_ns);
    const int64_t cpu_ns = mg_cpu_ns() - cpu_start_ns;
    finish(visit, state);

    state->send        = walk.send_first;
    state->recv        = walk.recv_first;
    const int trips    = visit->pattern->trips > 0 ? visit->pattern->trips : visit->window;
    outcome.batch      = decision->batch;
    outcome.ops        = decision->batch * trips;
    outcome.samples    = decision->rounds;
    outcome.cpu_ns     = cpu_of_all(state, cpu_ns);
    outcome.pool_bytes = slots > 1 ? visit->pool_bytes : 0;
    outcome.corrupt    = mg_payload_verify(visit, state, words, sizeof words) ? NULL : words;
    if (state->rank == 0)
        conclude(run, visit, cell, &outcome);
}

/* The limit is a fact of the launch: probed once, by the first visit that needs it, up to the
 * largest message that the plan wants to send blindly. */
static size_t largest_blind(const struct mg_plan *plan)
{
    size_t largest = 1;

    for (int i = 0; i < plan->visits_count; i++) {
        const struct mg_visit *visit = &plan->visits[i];

        if ((visit->mode->needs_eager || visit->pattern->sampling == MG_PROBE) &&
            visit->bytes > largest)
            largest = visit->bytes;
    }
    return largest;
}

static void probe_once(struct run *run, const struct mg_visit *visit, struct mg_state *state)
{
    struct mg_visit largest = *visit;
    int             slots   = 1;

    if (run->eager.known)
        return;
    largest.bytes = largest_blind(run->plan);
    if (!mg_all(state->comm, mg_payload_reserve(&largest)))
        return;
    mg_payload_prepare(&largest, state, &slots);
    run->eager = mg_eager_probe(state, largest.bytes);
}

static void probe_visit(struct run *run, const struct mg_visit *visit, struct mg_state *state)
{
    const int64_t at_ns = mg_now_ns() - run->start_ns;

    probe_once(run, visit, state);
    if (state->rank != 0)
        return;
    if (run->eager.known)
        mg_journal_eager(visit, &run->eager, at_ns);
    else
        mg_journal_refused(visit, "there is no memory for a message of this size");
}

/* Whether there is memory for a visit and it cannot deadlock; if not, the journal tells why. */
static bool is_possible(struct run *run, const struct mg_visit *visit, struct mg_state *state)
{
    const bool needs_eager = visit->mode->needs_eager;

    if (needs_eager)
        probe_once(run, visit, state);
    if ((needs_eager && !run->eager.known) || !mg_all(state->comm, mg_payload_reserve(visit))) {
        if (state->rank == 0)
            mg_journal_refused(visit, "there is no memory for a message of this size");
        return false;
    }
    if (needs_eager && (int64_t) visit->bytes > run->eager.longer_bytes) {
        if (state->rank == 0)
            mg_journal_blocked(visit, &run->eager);
        return false;
    }
    return true;
}

/* The visit of a group, decided by its rank 0 and known to all its ranks. */
static void visit_in_group(struct run *run, const struct mg_visit *visit, struct mg_state *state)
{
    struct cell    *cell     = &run->cells[visit->cell];
    const char     *skip     = state->rank == 0 ? reason_to_skip(run, cell) : NULL;
    struct decision decision = {.go = skip == NULL, .batch = cell->batch, .rounds = cell->rounds};

    mg_share(state->comm, &decision, sizeof decision);
    if (!decision.go) {
        if (state->rank == 0)
            mg_journal_skip(visit, skip);
        return;
    }
    if (state->rank == 0) {
        mg_journal_begin(visit, mg_now_ns() - run->start_ns, expect_ns(cell));
        /* The launcher and the campaign take the line now, on this core, not during the rounds. */
        (void) usleep(SETTLE_US);
    }
    if (visit->pattern->sampling == MG_PROBE)
        probe_visit(run, visit, state);
    else if (is_possible(run, visit, state))
        time_visit(run, visit, state, cell, &decision);
    else
        cell->closed = true;
}

static void do_visit(struct run *run, const struct mg_visit *visit, MPI_Request *requests)
{
    const struct mg_group group = mg_group_of(mg_active_ranks(visit, run->plan->ranks));
    struct mg_state       state = {.comm     = group.comm,
                                   .rank     = run->rank,
                                   .ranks    = group.ranks,
                                   .bytes    = visit->bytes,
                                   .window   = visit->window,
                                   .requests = requests};

    if (group.comm != MPI_COMM_NULL)
        visit_in_group(run, visit, &state);
    if (group.ranks < run->plan->ranks)
        mg_rest_until_all();
}

/* ---- The run -----------------------------------------------------------------------------------
 */

/* All memory now, in its final size: pages that moved later would make one launch two. */
static void reserve_all(const struct run *run)
{
    for (int i = 0; i < run->plan->visits_count; i++) {
        const struct mg_visit *visit = &run->plan->visits[i];

        if (run->rank < mg_active_ranks(visit, run->plan->ranks))
            (void) mg_payload_reserve(visit); /* a visit without memory is refused in its turn */
    }
}

static int largest_window(const struct mg_plan *plan)
{
    int window = 1;

    for (int i = 0; i < plan->visits_count; i++)
        if (plan->visits[i].window > window)
            window = plan->visits[i].window;
    return window;
}

static void *zeros(size_t count, size_t bytes)
{
    void *data = malloc(count * bytes);

    if (data == NULL)
        MG_DIE("no memory for %zu samples", count);
    memset(data, 0, count * bytes); /* touched now, so that no sample pays for a page */
    return data;
}

void mg_measure(const struct mg_plan *plan, int64_t start_ns)
{
    struct run run = {
        .plan       = plan,
        .start_ns   = start_ns,
        .clock      = mg_clock_measure(),
        .cells      = zeros((size_t) plan->cells_count, sizeof(struct cell)),
        .warmups_ns = zeros(WARMUPS + 1, sizeof(int64_t)),
        .samples_ns = zeros((size_t) plan->rounds_max + 1, sizeof(int64_t)),
    };
    const size_t requests_count = 2 * (size_t) largest_window(plan);
    MPI_Request *requests       = (MPI_Request *) zeros(requests_count, sizeof *requests);

    MG_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &run.rank));
    reserve_all(&run);
    mg_warm_up(plan);
    for (int i = 0; i < plan->visits_count; i++)
        do_visit(&run, &plan->visits[i], requests);

    for (int i = 0; i < plan->cells_count; i++)
        mg_series_free(&run.cells[i].series);
    free(run.cells);
    free(run.warmups_ns);
    free(run.samples_ns);
    free((void *) requests);
}
