/* visit - makes one visit: trial, warm-up, timed rounds, check. */
#include "rounds/visit.h"

#include "clock/clock.h"
#include "machine/compute.h"
#include "machine/condition.h"
#include "memory/payload.h"
#include "probe/feasible.h"
#include "probe/heartbeat.h"
#include "ranks/abort.h"
#include "ranks/groups.h"
#include "ranks/stopped.h"
#include "rounds/batching.h"
#include "text/journal.h"
#include "text/visit_line.h"
#include "traffic/visit_traffic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRIALS_USED   = 5,  /* the last ones: the first are slower after a change of cell */
    CLOCK_SHARE   = 20, /* a round takes at least a 20th of its trial, the rest being the clock */
    VERIFIED_EACH = 4,  /* visits of a cell, from the first; and the last */
    WORK_TRIALS   = 9,
    WORK_TIMES    = 100, /* the computation of a target, in operations */
    COUNTED_CALLS_MAX   = 64,
    COUNTED_CALLS_MIN   = 4,
    COUNTED_APART_BYTES = 4096, /* below it start messages would dominate the traffic */
};

static const int64_t tick_ns        = 1000000000;
static const int64_t work_trials_ns = 3000000;
static const int64_t work_min_ns    = 2000000; /* longer than a pause of the system */

/* Sets times below 0 to 0, and returns how many there were because the clock went backwards: not
 * those that became so when a baseline was subtracted. */
static int backwards_in(const struct mg_visit *visit, int64_t *samples_ns, int count)
{
    const int below = mg_clamp(samples_ns, count);

    return visit->pattern->baseline == NULL ? below : 0;
}

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
    mg_handshake(state->comm); /* the last message may still be under way */
}

/* Tells all ranks what rank 0 has decided; where several groups start together, the most that one
 * of them has. */
static void decide(const struct mg_state *state, int *numbers, int count)
{
    mg_broadcast(state->comm, numbers, (size_t) count * sizeof *numbers);
    if (state->starters.ranks > state->ranks)
        MG_MPI(MPI_Allreduce(MPI_IN_PLACE, numbers, count, MPI_INT, MPI_MAX, state->starters.comm));
}

/* ---- How long, how many ---------------------------------------------------------------------- */

/* How many rounds a trial has after its first: eight, or as many as fit the time. */
static int further_trials(int64_t first_ns, int64_t limit_ns)
{
    const int64_t fit = limit_ns / (first_ns > 0 ? first_ns : 1);

    return fit < MG_TRIALS - 1 ? (int) fit : MG_TRIALS - 1;
}

/* A first round, and more unless it took too long.  Slow rounds are written to the journal as
 * ticks, so that a slow cell is not taken for a hang. */
static int try_rounds(struct mg_run *run, const struct mg_visit *visit, struct mg_state *state,
                      struct mg_walk *walk, int64_t *trial_ns)
{
    struct mg_rounds *rounds = &run->rounds;
    const int64_t     limit  = MG_OVERDRAFT * mg_visit_share_ns(run);
    int               trials = 0;

    for (int more = 1; more > 0;) {
        mg_sampling_of(visit)->run(visit, state, walk, 1, more, limit, rounds);
        memcpy(trial_ns + trials, rounds->samples_ns, (size_t) rounds->count * sizeof *trial_ns);
        if (state->rank == 0 && rounds->samples_ns[0] > tick_ns)
            mg_journal_tick(visit, rounds->samples_ns[0]);
        trials += rounds->count;
        more = trials > 1 ? 0 : further_trials(trial_ns[0], limit);
        decide(state, &more, 1);
    }
    return trials;
}

/* The time of a round from a trial, without the cost of reading the clock. */
static int64_t round_of_trial(const int64_t *trial_ns, int trials)
{
    const int     used  = trials < TRIALS_USED ? trials : TRIALS_USED;
    const int64_t trial = mg_median_of(trial_ns + trials - used, used);
    const int64_t least = trial / CLOCK_SHARE > 0 ? trial / CLOCK_SHARE : 1;
    const int64_t round = trial - mg_clock_facts()->cost_ns;

    return round > least ? round : least;
}

/* A visit in progress; the outcome points to the other members. */
struct visit_context {
    struct mg_run         *run;
    const struct mg_visit *visit;
    struct mg_state       *state;
    struct mg_cell        *cell;
    struct mg_decision    *decision;
    bool                   is_first; /* of the cell in this launch */
    struct mg_walk         walk;
    int64_t                trial_ns[MG_TRIALS];
    int64_t                kept_ns[MG_WARMUPS];
    struct mg_condition    condition;
    struct mg_outcome      outcome;
};

/* ---- A visit --------------------------------------------------------------------------------- */

/* Not where untimed preparation is in it, nor where a rank waits until the series of another ends,
 * which is in its time of no sample. */
static bool knows_cpu_time(const struct mg_visit *visit)
{
    return mg_sampling_of(visit)->cpu_known && !visit->mode->target_waits;
}

/* -1 where it is not known on every rank. */
static int64_t cpu_of_all(const struct mg_state *state, int64_t here_ns)
{
    int64_t total_ns = here_ns > 0 ? here_ns : 0;

    MG_MPI(MPI_Allreduce(MPI_IN_PLACE, &total_ns, 1, MPI_INT64_T, MPI_SUM, state->comm));
    return mg_all_true(state->comm, here_ns >= 0) ? total_ns : -1;
}

/* How long a target computes while another rank works on its memory: long beside the operation, so
 * that its two possible times cannot be taken for each other. */
static int64_t target_work_ns(int64_t pure_ns)
{
    const int64_t long_ns = WORK_TIMES * pure_ns;

    return long_ns > work_min_ns ? long_ns : work_min_ns;
}

/* How long a call computes whose operation takes so long alone; 0 if it does not. */
static int64_t work_of(const struct mg_visit *visit, int64_t pure_ns)
{
    if (visit->mode->target_computes)
        return target_work_ns(pure_ns);
    if (!mg_computes_as_long(visit->mode))
        return 0;
    return visit->mode->work_times > 0 ? visit->mode->work_times * pure_ns : pure_ns;
}

/* Rounds in which ranks compute take as long as that, too, which trials do not show. */
static void fit_to_trial(struct mg_run *run, const struct mg_visit *visit, struct mg_cell *cell,
                         double round_ns)
{
    const double elapsed_ns = (double) run->rounds.elapsed_ns / run->rounds.count;

    mg_cell_fit(run, visit, cell, round_ns,
                elapsed_ns + (double) work_of(visit, (int64_t) round_ns));
}

/* Makes trial rounds on the first visit of a cell in this launch; then all ranks know batch and
 * rounds. */
static int prepare(struct mg_run *run, const struct mg_visit *visit, struct mg_state *state,
                   struct mg_walk *walk, struct mg_cell *cell, struct mg_decision *decision,
                   int64_t *trial_ns)
{
    int trials = 0;

    if (decision->batch == 0) {
        begin(visit, state);
        trials = try_rounds(run, visit, state, walk, trial_ns);
        finish(visit, state);
        if (state->rank == 0)
            fit_to_trial(run, visit, cell, (double) round_of_trial(trial_ns, trials));
    }
    int numbers[] = {cell->batch, cell->rounds, mg_warmups_for(run, cell)};
    decide(state, numbers, sizeof numbers / sizeof *numbers);
    decision->batch   = numbers[0];
    decision->rounds  = numbers[1];
    decision->warmups = numbers[2];
    return trials;
}

/* Runs a series of rounds, whose time is charged to the cell. */
static void run_rounds(struct visit_context *context, int count, struct mg_rounds *rounds)
{
    mg_sampling_of(context->visit)
        ->run(context->visit, context->state, &context->walk, context->decision->batch, count,
              MG_OVERDRAFT * mg_visit_share_ns(context->run), rounds);
    context->cell->spent_ns += rounds->elapsed_ns;
    context->outcome.net_calls += rounds->calls;
}

/* Copies the samples that started on time, or all if none did; returns how many. */
static int on_time(const struct mg_rounds *rounds, int64_t *samples_ns)
{
    const bool all   = rounds->late_count == rounds->count;
    int        count = 0;

    for (int i = 0; i < rounds->count; i++)
        if (all || rounds->late_count == 0 || !rounds->late[i])
            samples_ns[count++] = rounds->samples_ns[i];
    return count;
}

/* Fills the outcome from a series of rounds. */
static void fill_outcome(const struct mg_visit *visit, const struct mg_rounds *rounds,
                         const struct mg_precision *precision, struct mg_outcome *outcome)
{
    const int count = rounds->count;

    outcome->window           = visit->pattern->windowed ? visit->window : 0;
    outcome->cpu_ns           = rounds->cpu_ns;
    outcome->correlation_time = precision->correlation_time;
    outcome->effective        = precision->effective;
    outcome->half_width       = precision->half_width;
    outcome->samples_ns       = (mg_numbers){rounds->samples_ns, count};
    if (!mg_is_global(visit))
        return;
    outcome->lead_ns  = rounds->lead_ns;
    outcome->late     = (mg_flags){rounds->late, count};
    outcome->behind   = (mg_flags){rounds->behind, count};
    outcome->skew_ns  = (mg_numbers){rounds->skew_ns, count};
    outcome->root_ns  = (mg_numbers){rounds->root_ns, count};
    outcome->local_ns = (mg_numbers){rounds->local_ns, count};
    if (visit->pattern->rank_times)
        outcome->rank_ns = (mg_numbers){rounds->rank_ns, visit->ranks};
}

/* On rank 0: adds the samples to the cell, and fits its next visit to them. */
static void add_samples(struct mg_run *run, const struct mg_visit *visit, struct mg_cell *cell,
                        const struct mg_outcome *outcome)
{
    const struct mg_rounds *rounds     = &run->rounds;
    int64_t                *samples_ns = malloc((size_t) rounds->count * sizeof *samples_ns);

    if (samples_ns == NULL)
        MG_DIE("no memory for %d samples", rounds->count);
    const int     count     = on_time(rounds, samples_ns);
    const int64_t median_ns = mg_median_of(samples_ns, count);

    mg_series_append(&cell->series, samples_ns, count, (int) outcome->batch);
    mg_cell_fit(run, visit, cell, (double) median_ns / (double) outcome->batch,
                (double) rounds->elapsed_ns / rounds->count / (double) outcome->batch);
    if (mg_is_global(visit) && (run->fastest_ns == 0 || median_ns < run->fastest_ns))
        run->fastest_ns = median_ns;
    free(samples_ns);
}

/* On rank 0: writes the visit to the journal. */
static void write_visit(const struct mg_run *run, const struct mg_visit *visit,
                        struct mg_cell *cell, struct mg_outcome *outcome)
{
    const struct mg_precision precision = mg_series_precision(&cell->series);

    outcome->elapsed_ns = mg_since_ns(run->start_ns + outcome->at_ns);
    cell->closed        = outcome->corrupt != NULL;
    fill_outcome(visit, &run->rounds, &precision, outcome);
    mg_journal_visit(visit, outcome);
}

static const char *what_is_wrong(const struct mg_run *run, const struct mg_visit *visit,
                                 struct mg_state *state, bool verifies, char *error,
                                 size_t error_bytes)
{
    if (verifies && !mg_payload_verify(visit, state, error, error_bytes))
        return error;
    if (state->rank == 0 && run->rounds.left_early > 0) {
        (void) snprintf(error, error_bytes,
                        "in %d of %d rounds a rank left before another had come",
                        run->rounds.left_early, run->rounds.count);
        return error;
    }
    return NULL;
}

/* What programs do once sends some in some libraries and none in others, which proves nothing. */
static bool sends_messages(const struct mg_visit *visit)
{
    const enum mg_family family = visit->pattern->family;

    return family == MG_MESSAGE || family == MG_COLLECTIVE || family == MG_ONE_SIDED;
}

/* Rounds of short operations with a common start have more traffic from start messages than of
 * their own.  So their traffic is counted in separate calls, in visits that are verified. */
static bool is_counted_apart(const struct mg_visit *visit)
{
    return sends_messages(visit) && mg_is_global(visit) && visit->bytes < COUNTED_APART_BYTES;
}

/* Calls whose traffic is counted apart: as many as fit the share of time. */
static int counted_calls(const struct mg_run *run, const struct mg_cell *cell)
{
    const double fits = (double) mg_visit_share_ns(run) / (cell->round_ns > 1 ? cell->round_ns : 1);

    return fits < COUNTED_CALLS_MIN   ? COUNTED_CALLS_MIN
           : fits < COUNTED_CALLS_MAX ? (int) fits
                                      : COUNTED_CALLS_MAX;
}

/* Counts the traffic of some calls.  All hosts read their counters before the first call. */
static void count_traffic(const struct mg_visit *visit, struct mg_state *state, bool first,
                          int calls, struct mg_outcome *outcome)
{
    struct mg_card_reading before;

    mg_visit_traffic_begin(visit, state, first, &before);
    begin(visit, state);
    /* The handshake in begin() does not count. */
    if (state->rank == 0 && !before.is_stale)
        mg_cards_read_ip(&before);
    for (int i = 0; i < calls; i++) {
        if (visit->mode->prepare != NULL)
            visit->mode->prepare(state);
        visit->mode->call(state);
    }
    finish(visit, state);
    outcome->net_calls = calls;
    mg_visit_traffic_end(visit, state, first, &before, outcome);
}

static int64_t trips_of(const struct mg_visit *visit, const struct mg_state *state)
{
    const int64_t window = visit->window;

    if (visit->mode->message_each && visit->depth > 1)
        return (int64_t) visit->pattern->trips * visit->depth;
    if (visit->mode->trips > 0)
        return visit->mode->trips;
    if (visit->pattern->trips == MG_TRIPS_RANKS)
        return visit->ranks;
    if (visit->pattern->trips == MG_TRIPS_REPEAT)
        return state->repeats;
    if (visit->pattern->trips == MG_TRIPS_PAIRS)
        return visit->ranks / 2 * window;
    if (visit->pattern->trips == MG_TRIPS_OTHERS)
        return (visit->ranks - 1) * window;
    return visit->pattern->trips > 0 ? visit->pattern->trips : window;
}

/* Whether a rank computes while its operation is under way. */
static bool computes(const struct mg_mode *mode, const struct mg_state *state)
{
    return mode->computing == MG_OF_NOBODY || state->rank == (mode->computing == MG_OF_RECEIVE);
}

/* What the computation of a call takes now, on the slowest rank that computes: another frequency
 * than that of the calibration would count as time that is not hidden. */
static int64_t measure_work(const struct mg_mode *mode, const struct mg_state *state)
{
    int64_t times_ns[WORK_TRIALS];
    int64_t spent_ns  = 0;
    int     count     = 0;
    int64_t median_ns = 0;

    while (count < WORK_TRIALS && (count == 0 || spent_ns < work_trials_ns)) {
        const int64_t begin_ns = mg_now_ns();
        mg_work(state->work);
        times_ns[count] = mg_since_ns(begin_ns);
        spent_ns += times_ns[count++];
    }
    median_ns = computes(mode, state) ? mg_median_of(times_ns, count) : 0;
    MG_MPI(MPI_Allreduce(MPI_IN_PLACE, &median_ns, 1, MPI_INT64_T, MPI_MAX, state->comm));
    return median_ns;
}

/* For modes that compute: times rounds without computation, and sets how long it computes. */
static void time_pure(struct visit_context *context)
{
    const struct mg_visit *visit   = context->visit;
    struct mg_run         *run     = context->run;
    struct mg_outcome     *outcome = &context->outcome;

    context->state->work = 0;
    if (!mg_computes_as_long(visit->mode) && !visit->mode->target_computes)
        return;
    run_rounds(context, context->decision->rounds, &run->pure);
    outcome->backwards += backwards_in(visit, run->pure.samples_ns, run->pure.count);
    const int count  = on_time(&run->pure, run->pure.samples_ns);
    outcome->pure_ns = (mg_numbers){run->pure.samples_ns, count};
    outcome->work_ns =
        work_of(visit, mg_median_of(run->pure.samples_ns, count) / context->decision->batch);
    mg_broadcast(context->state->comm, &outcome->work_ns, sizeof outcome->work_ns);
    context->state->work = mg_work_for(outcome->work_ns, mg_clock_facts()->step_ns);
    if (visit->mode->overlaps)
        outcome->work_ns = measure_work(visit->mode, context->state);
}

/* Runs warm-up rounds and keeps the first samples. */
static void warm_up(struct visit_context *context)
{
    struct mg_rounds *rounds = &context->run->rounds;

    run_rounds(context, context->decision->warmups, rounds);
    const int kept = rounds->count < MG_WARMUPS ? rounds->count : MG_WARMUPS;

    memcpy(context->kept_ns, rounds->samples_ns, (size_t) kept * sizeof *context->kept_ns);
    context->outcome.backwards += backwards_in(context->visit, context->kept_ns, kept);
    context->outcome.warmup_ns = (mg_numbers){context->kept_ns, kept};
}

/* The rounds of a visit. */
static void time_rounds(struct visit_context *context)
{
    struct mg_rounds *rounds = &context->run->rounds;

    begin(context->visit, context->state);
    warm_up(context);
    time_pure(context);
    run_rounds(context, context->decision->rounds, rounds);
    finish(context->visit, context->state);
    context->outcome.backwards += backwards_in(context->visit, rounds->samples_ns, rounds->count);
    context->state->work = 0;
}

/* The condition is read next to the rounds, the cards before and after both: waiting for their
 * counters could change the condition. */
static void time_in_condition(struct visit_context *context)
{
    const struct mg_visit *visit  = context->visit;
    struct mg_state       *state  = context->state;
    const bool             counts = sends_messages(visit) && !is_counted_apart(visit);
    struct mg_card_reading before;

    mg_condition_read_path(visit, state, &context->condition, MG_BEFORE);
    if (counts)
        mg_visit_traffic_begin(visit, state, context->is_first, &before);
    mg_condition_read(visit, state, &context->condition, MG_BEFORE);
    time_rounds(context);
    mg_condition_read(visit, state, &context->condition, MG_AFTER);
    if (counts)
        mg_visit_traffic_end(visit, state, context->is_first, &before, &context->outcome);
    else
        context->outcome.net_calls = 0;
    mg_condition_read_path(visit, state, &context->condition, MG_AFTER);
    mg_condition_gather(state, &context->condition, &context->outcome);
}

/* What is done after the samples, decided by rank 0. */
struct checks {
    int is_verified;
    int counted_calls;
};

static struct checks checks_after(const struct mg_run *run, const struct mg_state *state,
                                  const struct mg_cell *cell)
{
    const int     made   = cell->series.visits;
    struct checks checks = {0};

    if (state->rank == 0) {
        checks.is_verified   = made % VERIFIED_EACH == 1 || made == run->plan->visits_per_cell ||
                               mg_skip_reason(run, cell) != NULL;
        checks.counted_calls = counted_calls(run, cell);
    }
    mg_broadcast(state->comm, &checks, sizeof checks);
    return checks;
}

/* Returns false, and leaves no trace, if a rank was stopped meanwhile. */
static bool time_visit(struct mg_run *run, const struct mg_visit *visit, struct mg_state *state,
                       struct mg_cell *cell, struct mg_decision *decision)
{
    const int            stops = mg_stopped_count();
    char                 error[MG_ERROR_BYTES];
    int                  slots   = 1;
    struct visit_context context = {.run      = run,
                                    .visit    = visit,
                                    .state    = state,
                                    .cell     = cell,
                                    .decision = decision,
                                    .is_first = decision->batch == 0,
                                    .outcome  = {.at_ns = mg_since_ns(run->start_ns)}};

    mg_payload_prepare(visit, state, &slots);
    context.walk     = mg_payload_walk(visit, state, slots);
    const int trials = prepare(run, visit, state, &context.walk, cell, decision, context.trial_ns);
    context.outcome.trial_ns   = (mg_numbers){context.trial_ns, trials};
    context.outcome.backwards  = backwards_in(visit, context.trial_ns, trials);
    context.outcome.batch      = decision->batch;
    context.outcome.ops        = decision->batch * trips_of(visit, state);
    context.outcome.pool_bytes = slots > 1 ? (int64_t) visit->pool_bytes : 0;
    mg_heartbeat();

    time_in_condition(&context);
    mg_payload_walk_end(&context.walk);
    mg_heartbeat();
    if (!mg_all_true(state->starters.comm, mg_stopped_count() == stops))
        return false;
    if (state->rank == 0)
        add_samples(run, visit, cell, &context.outcome);
    const struct checks checks = checks_after(run, state, cell);
    if (is_counted_apart(visit) && checks.is_verified)
        count_traffic(visit, state, context.is_first, checks.counted_calls, &context.outcome);
    if (sends_messages(visit) && (!is_counted_apart(visit) || checks.is_verified))
        mg_visit_traffic_gather(visit, state, &context.outcome);

    state->send              = context.walk.send_first;
    state->recv              = context.walk.recv_first;
    run->rounds.cpu_ns       = cpu_of_all(state, knows_cpu_time(visit) ? run->rounds.cpu_ns : -1);
    context.outcome.verified = checks.is_verified != 0 && mg_payload_compares(visit);
    context.outcome.corrupt =
        what_is_wrong(run, visit, state, context.outcome.verified, error, sizeof error);
    if (state->rank == 0)
        write_visit(run, visit, cell, &context.outcome);
    return true;
}

/* Repeats the visit until no rank is stopped in it. */
static void time_visit_unstopped(struct mg_run *run, const struct mg_visit *visit,
                                 struct mg_state *state, struct mg_cell *cell,
                                 struct mg_decision *decision)
{
    const struct mg_cell     known   = *cell;
    const struct mg_decision decided = *decision;

    while (!time_visit(run, visit, state, cell, decision)) {
        *cell     = known;
        *decision = decided;
        if (state->rank == 0)
            mg_journal_tick(visit, 0);
    }
}

/* Whether it can be measured, and with it the other groups of the step. */
static bool all_feasible(const struct mg_plan *plan, const struct mg_visit *visit,
                         struct mg_state *state)
{
    const bool here = mg_is_feasible(plan, visit, state);

    if (state->starters.ranks == state->ranks)
        return here;
    const bool everywhere = mg_all_true(state->starters.comm, here);
    if (here && !everywhere && state->rank == 0)
        mg_journal_refused(visit, "another group of its step cannot be measured");
    return everywhere;
}

void mg_visit_run(struct mg_run *run, const struct mg_visit *visit, struct mg_state *state,
                  struct mg_cell *cell, struct mg_decision *decision)
{
    if (visit->pattern->sampling->probes)
        mg_eager_visit(run->plan, visit, state, mg_since_ns(run->start_ns));
    else if (all_feasible(run->plan, visit, state))
        time_visit_unstopped(run, visit, state, cell, decision);
    else
        cell->closed = true;
}
