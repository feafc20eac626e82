/* measure - the visits of a plan: trial, warm-up, timed rounds, check. */
#include "kernel.h"
#include "pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    TRIALS       = 9, /* single rounds that tell how long a round takes: */
    TRIALS_USED  = 5, /* the last of them; the first still pay for the change of cell */
    WARMUPS      = 2, /* unrecorded in the statistics: the last cell left other data in caches */
    PROOF_CALLS  = 64,
    PROVED_BYTES = 4096, /* from here on the payload itself is proof enough */
    SETTLE_US    = 1000, /* for launcher and campaign to carry a line away before the next visit */
};

static const int64_t tick_ns  = 1000000000;
static const int64_t block_ns = 1000000000;       /* between two checks of the global clock */
static const double  tolerated_clock_error = 0.1; /* of the time of the fastest cell */

/* What is known of a cell in this launch; only rank 0 of its group uses it. */
struct cell {
    struct mg_series series;
    int              batch; /* 0: not tried yet */
    int              rounds;
    double           round_ns; /* of one call */
    double           cost_ns;  /* of one sample, with what lies between two of them */
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
    int64_t               visits_ns;  /* when the clocks agreed, and visits could begin */
    struct mg_rounds      rounds;     /* of one series, again and again */
    struct mg_rounds      pure;       /* the same of `overlap`, without its computation */
    int64_t               checked_ns; /* when the global clock was */
    int64_t               fastest_ns; /* of the cells that need it */
    struct mg_clock_facts clock;
    int                   rank;
    bool                  skips; /* the visit of its pair that it has just made an offer for */
};

/* ---- Around a series of rounds --------------------------------------------------------------- */

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

/* ---- How long, how many ---------------------------------------------------------------------- */

static int64_t share_ns(const struct run *run)
{
    return run->plan->cell_ns / run->plan->visits_per_cell;
}

/* A first round, and unless it took too long eight more.
 * Slow rounds are told to the journal, so that a slow cell is not taken for a hanging one. */
static int try_rounds(struct run *run, const struct mg_visit *visit, struct mg_state *state,
                      struct mg_walk *walk, int64_t *trial_ns)
{
    struct mg_rounds *rounds = &run->rounds;
    const int64_t     limit  = MG_OVERDRAFT * share_ns(run);
    int               trials = 0;

    for (int more = 1; more > 0;) {
        mg_rounds_run(visit, state, walk, 1, more, limit, rounds);
        memcpy(trial_ns + trials, rounds->samples_ns, (size_t) rounds->count * sizeof *trial_ns);
        if (state->rank == 0 && rounds->samples_ns[0] > tick_ns)
            mg_journal_tick(visit, rounds->samples_ns[0]);
        trials += rounds->count;
        more = trials > 1 ? 0 : trial_ns[0] < limit ? TRIALS - 1 : 0;
        mg_share(state->comm, &more, sizeof more);
    }
    return trials;
}

/* Fits batch and rounds to what a round takes; after every visit anew, since the trial may have met
 * a slow moment, and too small a batch would give the clock too large a share. */
static void size_up(const struct run *run, const struct mg_visit *visit, struct cell *cell,
                    double round_ns, double cost_of_call_ns)
{
    const int64_t share = share_ns(run) / (visit->mode->overlaps ? 2 : 1);

    cell->round_ns = round_ns;
    cell->batch    = mg_batch_for(visit->pattern, round_ns, share, &run->clock);
    cell->cost_ns  = cell->batch * (cost_of_call_ns > round_ns ? cost_of_call_ns : round_ns);
    cell->rounds   = mg_rounds_for(run->plan, cell->cost_ns, share);
}

/* What one round takes by a trial, without the clock reading that each of its rounds contains. */
static int64_t round_of_trial(const struct run *run, const int64_t *trial_ns, int trials)
{
    const int     used     = trials < TRIALS_USED ? trials : TRIALS_USED;
    const int64_t round_ns = mg_median_of(trial_ns + trials - used, used) - run->clock.cost_ns;

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
    if (mg_now_ns() - run->visits_ns >= plan->deadline_ns)
        return "time";
    if (cell->series.count >= plan->rounds_max || precise_enough(plan, &cell->series))
        return "precise";
    if (cell->spent_ns >= plan->cell_ns && cell->series.count > 0)
        return "share";
    return NULL;
}

/* ---- A visit --------------------------------------------------------------------------------- */

static int64_t expect_ns(const struct cell *cell, bool overlaps)
{
    const int series = overlaps ? 3 : 1; /* without work, and with as much again */

    return (int64_t) (series * cell->cost_ns * (cell->rounds + WARMUPS));
}

/* -1 where it is not known on every rank. */
static int64_t cpu_of_all(const struct mg_state *state, int64_t here_ns)
{
    int64_t total_ns = here_ns > 0 ? here_ns : 0;

    MG_MPI(MPI_Allreduce(MPI_IN_PLACE, &total_ns, 1, MPI_INT64_T, MPI_SUM, state->comm));
    return mg_all(state->comm, here_ns >= 0) ? total_ns : -1;
}

/* Trial rounds on the first visit of a cell in this launch; afterwards all ranks know batch and
 * rounds. */
static int prepare(struct run *run, const struct mg_visit *visit, struct mg_state *state,
                   struct mg_walk *walk, struct cell *cell, struct decision *decision,
                   int64_t *trial_ns)
{
    int trials = 0;

    if (decision->batch == 0) {
        begin(visit, state);
        trials = try_rounds(run, visit, state, walk, trial_ns);
        finish(visit, state);
        if (state->rank == 0)
            size_up(run, visit, cell, (double) round_of_trial(run, trial_ns, trials),
                    (double) run->rounds.elapsed_ns / run->rounds.count);
    }
    decision->batch  = cell->batch;
    decision->rounds = cell->rounds;
    mg_share(state->comm, decision, sizeof *decision);
    return trials;
}

static bool is_global(const struct mg_visit *visit)
{
    return visit->pattern->sampling == MG_COMMON;
}

/* Samples that started in time; all, if there are none. */
static int punctual(const struct mg_rounds *rounds, int64_t *samples_ns)
{
    const bool all   = rounds->late_count == rounds->count;
    int        count = 0;

    for (int i = 0; i < rounds->count; i++)
        if (all || rounds->late_count == 0 || !rounds->late[i])
            samples_ns[count++] = rounds->samples_ns[i];
    return count;
}

/* Rank 0 alone: what is known of the visit goes to the journal, and decides about the next one. */
static void conclude(struct run *run, const struct mg_visit *visit, struct cell *cell,
                     struct mg_outcome *outcome)
{
    const struct mg_rounds *rounds     = &run->rounds;
    int64_t                *samples_ns = malloc((size_t) rounds->count * sizeof *samples_ns);

    if (samples_ns == NULL)
        MG_DIE("no memory for %d samples", rounds->count);
    const int     count     = punctual(rounds, samples_ns);
    const int64_t median_ns = mg_median_of(samples_ns, count);

    outcome->elapsed_ns = mg_now_ns() - run->start_ns - outcome->at_ns;
    mg_series_append(&cell->series, samples_ns, count, outcome->batch);
    outcome->standing = mg_series_standing(&cell->series);
    cell->spent_ns += outcome->elapsed_ns;
    cell->closed = outcome->corrupt != NULL;
    size_up(run, visit, cell, (double) median_ns / outcome->batch,
            (double) rounds->elapsed_ns / rounds->count / outcome->batch);
    if (is_global(visit) && (run->fastest_ns == 0 || median_ns < run->fastest_ns))
        run->fastest_ns = median_ns;
    mg_journal_visit(visit, outcome, rounds);
    free(samples_ns);
}

/* The rounds of `overlap` without and with a computation that takes as long as they do. */
static void time_pure(struct run *run, const struct mg_visit *visit, struct mg_state *state,
                      struct mg_walk *walk, const struct decision *decision,
                      struct mg_outcome *outcome)
{
    state->work = 0;
    if (!visit->mode->overlaps)
        return;
    mg_rounds_run(visit, state, walk, decision->batch, decision->rounds,
                  MG_OVERDRAFT * share_ns(run), &run->pure);
    outcome->pures   = punctual(&run->pure, run->pure.samples_ns);
    outcome->pure_ns = run->pure.samples_ns;
    outcome->work_ns = mg_median_of(run->pure.samples_ns, outcome->pures);
    mg_share(state->comm, &outcome->work_ns, sizeof outcome->work_ns);
    state->work = mg_work_for(outcome->work_ns);
}

static const char *what_is_wrong(const struct run *run, const struct mg_visit *visit,
                                 struct mg_state *state, char *words, size_t words_bytes)
{
    if (!mg_payload_verify(visit, state, words, words_bytes))
        return words;
    if (state->rank == 0 && run->rounds.left_early > 0) {
        (void) snprintf(words, words_bytes,
                        "in %d of %d rounds a rank left before another had come",
                        run->rounds.left_early, run->rounds.count);
        return words;
    }
    return NULL;
}

/* The words that start a round travel as messages do: of short operations they would be what the
 * interfaces count.  So those are called a few times without them. */
static void prove(const struct mg_visit *visit, struct mg_state *state, struct mg_outcome *outcome)
{
    if (!is_global(visit) || visit->bytes >= PROVED_BYTES)
        return;
    begin(visit, state);
    const struct mg_net before = mg_net_carried();
    for (outcome->net_calls = 0; outcome->net_calls < PROOF_CALLS; outcome->net_calls++)
        visit->mode->call(state);
    finish(visit, state);
    outcome->net_bytes = mg_net_bytes_since(before);
}

static int trips_of(const struct mg_visit *visit, const struct mg_state *state)
{
    if (visit->pattern->trips == MG_TRIPS_RANKS)
        return visit->ranks;
    if (visit->pattern->trips == MG_TRIPS_REPEAT)
        return state->repeats;
    return visit->pattern->trips > 0 ? visit->pattern->trips : visit->window;
}

static void time_visit(struct run *run, const struct mg_visit *visit, struct mg_state *state,
                       struct cell *cell, struct decision *decision)
{
    int64_t           trial_ns[TRIALS];
    int64_t           warmup_ns[WARMUPS];
    char              words[MG_WORDS_BYTES];
    int               slots   = 1;
    const int64_t     limit   = MG_OVERDRAFT * share_ns(run);
    struct mg_outcome outcome = {
        .at_ns = mg_now_ns() - run->start_ns, .trial_ns = trial_ns, .warmup_ns = warmup_ns};

    mg_payload_prepare(visit, state, &slots);
    struct mg_walk walk = mg_payload_walk(visit, state, slots);
    outcome.trials      = prepare(run, visit, state, &walk, cell, decision, trial_ns);

    const struct mg_net net_before = mg_net_carried();
    begin(visit, state);
    mg_rounds_run(visit, state, &walk, decision->batch, WARMUPS, limit, &run->rounds);
    outcome.warmups = run->rounds.count;
    memcpy(warmup_ns, run->rounds.samples_ns, (size_t) outcome.warmups * sizeof *warmup_ns);
    time_pure(run, visit, state, &walk, decision, &outcome);
    mg_rounds_run(visit, state, &walk, decision->batch, decision->rounds, limit, &run->rounds);
    finish(visit, state);
    outcome.net_bytes = mg_net_bytes_since(net_before);
    outcome.net_calls = decision->batch * (outcome.warmups + run->rounds.count);
    state->work       = 0;
    prove(visit, state, &outcome);

    state->send        = walk.send_first;
    state->recv        = walk.recv_first;
    outcome.batch      = decision->batch;
    outcome.ops        = decision->batch * trips_of(visit, state);
    run->rounds.cpu_ns = cpu_of_all(state, run->rounds.cpu_ns);
    outcome.pool_bytes = slots > 1 ? visit->pool_bytes : 0;
    outcome.corrupt    = what_is_wrong(run, visit, state, words, sizeof words);
    if (state->rank == 0)
        conclude(run, visit, cell, &outcome);
}

static void perform(struct run *run, const struct mg_visit *visit, struct mg_state *state,
                    struct cell *cell, struct decision *decision)
{
    if (visit->pattern->sampling == MG_PROBE)
        mg_probe_visit(run->plan, visit, state, mg_now_ns() - run->start_ns);
    else if (mg_is_possible(run->plan, visit, state))
        time_visit(run, visit, state, cell, decision);
    else
        cell->closed = true;
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
        mg_journal_begin(visit, mg_now_ns() - run->start_ns,
                         expect_ns(cell, visit->mode->overlaps));
        /* The launcher and the campaign take the line now, on this core, not during the rounds. */
        (void) usleep(SETTLE_US);
    }
    perform(run, visit, state, cell, &decision);
}

static void do_visit(struct run *run, const struct mg_visit *visit, MPI_Request *requests)
{
    const struct mg_group group = mg_group_of(visit->ranks);
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

/* ---- Visits of pairs ------------------------------------------------------------------------- */

static struct mg_offer offer_of(void *context, const struct mg_visit *visit)
{
    struct run        *run   = context;
    const struct cell *cell  = &run->cells[visit->cell];
    const char        *skip  = reason_to_skip(run, cell);
    struct mg_offer    offer = {.expect_ns = expect_ns(cell, visit->mode->overlaps)};

    (void) snprintf(offer.skip, sizeof offer.skip, "%s", skip != NULL ? skip : "");
    run->skips = skip != NULL;
    return offer;
}

static void visit_of_pair(struct run *run, const struct mg_visit *visit, struct mg_state *state)
{
    struct cell    *cell     = &run->cells[visit->cell];
    struct decision decision = {.go = !run->skips, .batch = cell->batch, .rounds = cell->rounds};

    mg_share(state->comm, &decision, sizeof decision);
    if (!decision.go)
        return;
    if (state->rank == 0)
        mg_journal_keep(visit);
    perform(run, visit, state, cell, &decision);
}

/* All visits of a step at the same time; ranks that have none rest. */
static void do_step(struct run *run, const struct mg_visit *visits, int count,
                    MPI_Request *requests)
{
    const struct mg_visit *visit = mg_step_begin(visits, count, offer_of, run, &run->start_ns);

    if (visit != NULL) {
        struct mg_state state = {.comm     = mg_pair_comm(visit),
                                 .rank     = run->rank == visit->pair[0] ? 0 : 1,
                                 .ranks    = visit->ranks,
                                 .bytes    = visit->bytes,
                                 .window   = visit->window,
                                 .requests = requests};

        visit_of_pair(run, visit, &state);
    }
    mg_step_end(visits, count);
}

/* ---- The run -----------------------------------------------------------------------------------
 */

/* All memory now, in its final size: pages that moved later would make one launch two. */
static void reserve_all(const struct run *run)
{
    for (int i = 0; i < run->plan->visits_count; i++) {
        const struct mg_visit *visit = &run->plan->visits[i];

        if (mg_takes_part(visit, run->rank))
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
    void *data = calloc(count, bytes);

    if (data == NULL)
        MG_DIE("no memory for %zu cells", count);
    return data;
}

/* ---- The global clock ------------------------------------------------------------------------ */

static bool needs_clock(const struct mg_plan *plan)
{
    for (int i = 0; i < plan->visits_count; i++)
        if (is_global(&plan->visits[i]))
            return true;
    return false;
}

/* Visits between two checks are a block: the clock was no worse in it than either of them says. */
static void check_clock(struct run *run, bool last)
{
    struct {
        int     due;
        int64_t tolerance_ns;
    } check = {.due          = last || mg_now_ns() - run->checked_ns > block_ns,
               .tolerance_ns = (int64_t) (tolerated_clock_error * (double) run->fastest_ns)};

    mg_share(MPI_COMM_WORLD, &check, sizeof check);
    if (!check.due)
        return;
    mg_clocks_check(run->start_ns, check.tolerance_ns);
    run->checked_ns = mg_now_ns();
}

static void do_visits(struct run *run, MPI_Request *requests)
{
    const struct mg_visit *visits = run->plan->visits;
    const struct mg_visit *end    = visits + run->plan->visits_count;
    const bool             global = needs_clock(run->plan);

    if (global)
        mg_clocks_synchronise(run->start_ns);
    run->visits_ns  = mg_now_ns();
    run->checked_ns = run->visits_ns;
    for (int count = 1; visits < end; visits += count) {
        count = mg_is_pair(visits) ? mg_step_length(visits, end) : 1;
        if (mg_is_pair(visits))
            do_step(run, visits, count, requests);
        else
            do_visit(run, visits, requests);
        if (global && is_global(visits))
            check_clock(run, false);
    }
    if (global)
        check_clock(run, true);
}

void mg_measure(const struct mg_plan *plan, int64_t start_ns)
{
    struct run run = {
        .plan     = plan,
        .start_ns = start_ns,
        .clock    = mg_clock_measure(),
        .cells    = zeros((size_t) plan->cells_count, sizeof(struct cell)),
    };
    const size_t requests_count = 2 * (size_t) largest_window(plan);
    MPI_Request *requests       = (MPI_Request *) zeros(requests_count, sizeof *requests);
    const int    room           = plan->rounds_max > TRIALS ? plan->rounds_max : TRIALS;

    MG_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &run.rank));
    mg_rounds_make(&run.rounds, room);
    mg_rounds_make(&run.pure, room);
    reserve_all(&run);
    mg_warm_up(plan);
    mg_pairs_make(plan);
    do_visits(&run, requests);

    for (int i = 0; i < plan->cells_count; i++)
        mg_series_free(&run.cells[i].series);
    free(run.cells);
    mg_rounds_free(&run.rounds);
    mg_rounds_free(&run.pure);
    mg_together_free();
    mg_shared_free();
    free((void *) requests);
}
