/* visit - the life of a visit: trial, warm-up, timed rounds, check. */
#include "rounds/visit.h"

#include "memory/payload.h"
#include "ranks/abort.h"
#include "ranks/groups.h"
#include "ranks/stopped.h"
#include "rounds/alive.h"
#include "rounds/batching.h"
#include "rounds/carried.h"
#include "rounds/compute.h"
#include "rounds/condition.h"
#include "rounds/feasible.h"
#include "text/journal.h"
#include "text/visit_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRIALS_USED   = 5,  /* the last of them; the first still pay for the change of cell */
    MUCH_OF_CLOCK = 20, /* of a trial no more than all but a 20th is: or batches had no bounds */
    VERIFIED_EACH = 4,  /* of a cell's visits in a launch, from the first; the last is, too */
    PROOF_MOST    = 64, /* calls */
    PROOF_LEAST   = 4,
    PROVED_BYTES  = 4096, /* from here on the payload itself is proof enough */
};

static const int64_t tick_ns = 1000000000;

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

/* How many rounds a trial has beside its first: eight, or as many as their time allows. */
static int more_trials(int64_t first_ns, int64_t limit_ns)
{
    const int64_t fit = limit_ns / (first_ns > 0 ? first_ns : 1);

    return fit < MG_TRIALS - 1 ? (int) fit : MG_TRIALS - 1;
}

/* A first round, and more unless it took too long.
 * Slow rounds are told to the journal, so that a slow cell is not taken for a hanging one. */
static int try_rounds(struct mg_run *run, const struct mg_visit *visit, struct mg_state *state,
                      struct mg_walk *walk, int64_t *trial_ns)
{
    struct mg_rounds *rounds = &run->rounds;
    const int64_t     limit  = MG_OVERDRAFT * mg_share_ns(run);
    int               trials = 0;

    for (int more = 1; more > 0;) {
        visit->pattern->sampling->run(visit, state, walk, 1, more, limit, rounds);
        memcpy(trial_ns + trials, rounds->samples_ns, (size_t) rounds->count * sizeof *trial_ns);
        if (state->rank == 0 && rounds->samples_ns[0] > tick_ns)
            mg_journal_tick(visit, rounds->samples_ns[0]);
        trials += rounds->count;
        more = trials > 1 ? 0 : more_trials(trial_ns[0], limit);
        mg_share(state->comm, &more, sizeof more);
    }
    return trials;
}

/* What one round takes by a trial, without the clock reading that each of its rounds contains. */
static int64_t round_of_trial(const struct mg_run *run, const int64_t *trial_ns, int trials)
{
    const int     used  = trials < TRIALS_USED ? trials : TRIALS_USED;
    const int64_t trial = mg_median_of(trial_ns + trials - used, used);
    const int64_t least = trial / MUCH_OF_CLOCK > 0 ? trial / MUCH_OF_CLOCK : 1;
    const int64_t round = trial - run->clock.cost_ns;

    return round > least ? round : least;
}

/* A visit under way; the outcome points into all that is beside it. */
struct course {
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

/* -1 where it is not known on every rank. */
static int64_t cpu_of_all(const struct mg_state *state, int64_t here_ns)
{
    int64_t total_ns = here_ns > 0 ? here_ns : 0;

    MG_MPI(MPI_Allreduce(MPI_IN_PLACE, &total_ns, 1, MPI_INT64_T, MPI_SUM, state->comm));
    return mg_all(state->comm, here_ns >= 0) ? total_ns : -1;
}

/* Trial rounds on the first visit of a cell in this launch; afterwards all ranks know batch and
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
            mg_size_up(run, visit, cell, (double) round_of_trial(run, trial_ns, trials),
                       (double) run->rounds.elapsed_ns / run->rounds.count);
    }
    decision->batch   = cell->batch;
    decision->rounds  = cell->rounds;
    decision->warmups = mg_warmups_for(run, cell);
    mg_share(state->comm, decision, sizeof *decision);
    return trials;
}

/* A series of rounds of the visit, which its cell pays for. */
static void run_rounds(struct course *of, int count, struct mg_rounds *rounds)
{
    of->visit->pattern->sampling->run(of->visit, of->state, &of->walk, of->decision->batch, count,
                                      MG_OVERDRAFT * mg_share_ns(of->run), rounds);
    of->cell->spent_ns += rounds->elapsed_ns;
    of->outcome.net_calls += rounds->calls;
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

/* What the journal has of a series of rounds. */
static void report(const struct mg_visit *visit, const struct mg_rounds *rounds,
                   const struct mg_standing *standing, struct mg_outcome *outcome)
{
    const int count = rounds->count;

    outcome->window           = visit->pattern->windowed ? visit->window : 0;
    outcome->cpu_ns           = rounds->cpu_ns;
    outcome->correlation_time = standing->correlation_time;
    outcome->effective        = standing->effective;
    outcome->half_width       = standing->half_width;
    outcome->samples_ns       = (mg_numbers){rounds->samples_ns, count};
    if (!mg_is_global(visit))
        return;
    outcome->lead_ns  = rounds->lead_ns;
    outcome->late     = (mg_flags){rounds->late, count};
    outcome->behind   = (mg_flags){rounds->behind, count};
    outcome->skew_ns  = (mg_numbers){rounds->skew_ns, count};
    outcome->root_ns  = (mg_numbers){rounds->root_ns, count};
    outcome->local_ns = (mg_numbers){rounds->local_ns, count};
}

/* Rank 0 alone: the samples join those of the cell, and decide about its next visit. */
static void take_in(struct mg_run *run, const struct mg_visit *visit, struct mg_cell *cell,
                    const struct mg_outcome *outcome)
{
    const struct mg_rounds *rounds     = &run->rounds;
    int64_t                *samples_ns = malloc((size_t) rounds->count * sizeof *samples_ns);

    if (samples_ns == NULL)
        MG_DIE("no memory for %d samples", rounds->count);
    const int     count     = punctual(rounds, samples_ns);
    const int64_t median_ns = mg_median_of(samples_ns, count);

    mg_series_append(&cell->series, samples_ns, count, (int) outcome->batch);
    mg_size_up(run, visit, cell, (double) median_ns / (double) outcome->batch,
               (double) rounds->elapsed_ns / rounds->count / (double) outcome->batch);
    if (mg_is_global(visit) && (run->fastest_ns == 0 || median_ns < run->fastest_ns))
        run->fastest_ns = median_ns;
    free(samples_ns);
}

/* Rank 0 alone: what is known of the visit goes to the journal. */
static void conclude(const struct mg_run *run, const struct mg_visit *visit, struct mg_cell *cell,
                     struct mg_outcome *outcome)
{
    const struct mg_standing standing = mg_series_standing(&cell->series);

    outcome->elapsed_ns = mg_since_ns(run->start_ns + outcome->at_ns);
    cell->closed        = outcome->corrupt != NULL;
    report(visit, &run->rounds, &standing, outcome);
    mg_journal_visit(visit, outcome);
}

static const char *what_is_wrong(const struct mg_run *run, const struct mg_visit *visit,
                                 struct mg_state *state, bool verifies, char *words,
                                 size_t words_bytes)
{
    if (verifies && !mg_payload_verify(visit, state, words, words_bytes))
        return words;
    if (state->rank == 0 && run->rounds.left_early > 0) {
        (void) snprintf(words, words_bytes,
                        "in %d of %d rounds a rank left before another had come",
                        run->rounds.left_early, run->rounds.count);
        return words;
    }
    return NULL;
}

static bool talks(const struct mg_visit *visit)
{
    return visit->pattern->family == MG_MESSAGE || visit->pattern->family == MG_COLLECTIVE;
}

/* Of short operations the words that start a round are what the cards would count: these travel as
 * messages do.  So they are called a few times without them, where their content is checked. */
static bool is_proved_apart(const struct mg_visit *visit)
{
    return mg_is_global(visit) && visit->bytes < PROVED_BYTES;
}

/* As many as fit a share of the cell's time. */
static int proof_calls(const struct mg_run *run, const struct mg_cell *cell)
{
    const double fits = (double) mg_share_ns(run) / (cell->round_ns > 1 ? cell->round_ns : 1);

    return fits < PROOF_LEAST ? PROOF_LEAST : fits < PROOF_MOST ? (int) fits : PROOF_MOST;
}

/* All hosts have read their counters before anybody calls. */
static void prove(const struct mg_visit *visit, struct mg_state *state, bool first, int calls,
                  struct mg_outcome *outcome)
{
    struct mg_carried before;

    mg_carried_until_now(visit, state, first, &before);
    begin(visit, state);
    /* The handshake of the begin is none of its messages. */
    if (state->rank == 0 && !before.is_stale)
        mg_cards_read_ip(&before);
    for (int i = 0; i < calls; i++)
        visit->mode->call(state);
    finish(visit, state);
    outcome->net_calls = calls;
    mg_carried_since(visit, state, first, &before, outcome);
}

static int trips_of(const struct mg_visit *visit, const struct mg_state *state)
{
    if (visit->pattern->trips == MG_TRIPS_RANKS)
        return visit->ranks;
    if (visit->pattern->trips == MG_TRIPS_REPEAT)
        return state->repeats;
    return visit->pattern->trips > 0 ? visit->pattern->trips : visit->window;
}

/* The rounds of `overlap` without and with a computation that takes as long as they do. */
static void time_pure(struct course *of)
{
    struct mg_run     *run     = of->run;
    struct mg_outcome *outcome = &of->outcome;

    of->state->work = 0;
    if (!of->visit->mode->overlaps)
        return;
    run_rounds(of, of->decision->rounds, &run->pure);
    outcome->backwards += mg_clamp(run->pure.samples_ns, run->pure.count);
    const int count  = punctual(&run->pure, run->pure.samples_ns);
    outcome->pure_ns = (mg_numbers){run->pure.samples_ns, count};
    outcome->work_ns = mg_median_of(run->pure.samples_ns, count);
    mg_share(of->state->comm, &outcome->work_ns, sizeof outcome->work_ns);
    of->state->work = mg_work_for(outcome->work_ns, run->clock.step_ns);
}

/* Samples that do not count, the first of which are kept. */
static void warm_up(struct course *of)
{
    struct mg_rounds *rounds = &of->run->rounds;

    run_rounds(of, of->decision->warmups, rounds);
    const int kept = rounds->count < MG_WARMUPS ? rounds->count : MG_WARMUPS;

    memcpy(of->kept_ns, rounds->samples_ns, (size_t) kept * sizeof *of->kept_ns);
    of->outcome.backwards += mg_clamp(of->kept_ns, kept);
    of->outcome.warmup_ns = (mg_numbers){of->kept_ns, kept};
}

/* The rounds of a visit. */
static void time_rounds(struct course *of)
{
    struct mg_rounds *rounds = &of->run->rounds;

    begin(of->visit, of->state);
    warm_up(of);
    time_pure(of);
    run_rounds(of, of->decision->rounds, rounds);
    finish(of->visit, of->state);
    of->outcome.backwards += mg_clamp(rounds->samples_ns, rounds->count);
    of->state->work = 0;
}

/* The rounds between two looks at the machine, and all of that between two at the cards: a card may
 * have to be waited for, and the machine of then would be another one. */
static void time_in_condition(struct course *of)
{
    const struct mg_visit *visit  = of->visit;
    struct mg_state       *state  = of->state;
    const bool             counts = talks(visit) && !is_proved_apart(visit);
    struct mg_carried      before;

    mg_condition_ask_path(visit, state, &of->condition, MG_BEFORE);
    if (counts)
        mg_carried_until_now(visit, state, of->is_first, &before);
    mg_condition_take(visit, state, &of->condition, MG_BEFORE);
    time_rounds(of);
    mg_condition_take(visit, state, &of->condition, MG_AFTER);
    if (counts)
        mg_carried_since(visit, state, of->is_first, &before, &of->outcome);
    else
        of->outcome.net_calls = 0;
    mg_condition_ask_path(visit, state, &of->condition, MG_AFTER);
    mg_condition_tell(state, &of->condition, &of->outcome);
}

/* What comes after the samples, decided by rank 0. */
struct after {
    int is_verified;
    int proof_calls;
};

static struct after after_of(const struct mg_run *run, const struct mg_state *state,
                             const struct mg_cell *cell)
{
    const int    made  = cell->series.visits;
    struct after after = {0};

    if (state->rank == 0) {
        after.is_verified = made % VERIFIED_EACH == 1 || made == run->plan->visits_per_cell ||
                            mg_reason_to_skip(run, cell) != NULL;
        after.proof_calls = proof_calls(run, cell);
    }
    mg_share(state->comm, &after, sizeof after);
    return after;
}

/* Whether it counts: one in which a rank was stopped does not, and leaves no trace. */
static bool time_visit(struct mg_run *run, const struct mg_visit *visit, struct mg_state *state,
                       struct mg_cell *cell, struct mg_decision *decision)
{
    const int     stops = mg_stopped_times();
    char          words[MG_WORDS_BYTES];
    int           slots = 1;
    struct course of    = {.run      = run,
                           .visit    = visit,
                           .state    = state,
                           .cell     = cell,
                           .decision = decision,
                           .is_first = decision->batch == 0,
                           .outcome  = {.at_ns = mg_since_ns(run->start_ns)}};

    mg_payload_prepare(visit, state, &slots);
    of.walk               = mg_payload_walk(visit, state, slots);
    const int trials      = prepare(run, visit, state, &of.walk, cell, decision, of.trial_ns);
    of.outcome.trial_ns   = (mg_numbers){of.trial_ns, trials};
    of.outcome.backwards  = mg_clamp(of.trial_ns, trials);
    of.outcome.batch      = decision->batch;
    of.outcome.ops        = (int64_t) decision->batch * trips_of(visit, state);
    of.outcome.pool_bytes = slots > 1 ? (int64_t) visit->pool_bytes : 0;
    mg_alive();

    time_in_condition(&of);
    mg_payload_walked(&of.walk);
    mg_alive();
    if (!mg_all(state->comm, mg_stopped_times() == stops))
        return false;
    if (state->rank == 0)
        take_in(run, visit, cell, &of.outcome);
    const struct after after = after_of(run, state, cell);
    if (is_proved_apart(visit) && after.is_verified)
        prove(visit, state, of.is_first, after.proof_calls, &of.outcome);
    if (talks(visit) && (!is_proved_apart(visit) || after.is_verified))
        mg_carried_tell(visit, state, &of.outcome);

    state->send = of.walk.send_first;
    state->recv = of.walk.recv_first;
    run->rounds.cpu_ns =
        cpu_of_all(state, visit->pattern->sampling->cpu_known ? run->rounds.cpu_ns : -1);
    of.outcome.verified = after.is_verified != 0;
    of.outcome.corrupt = what_is_wrong(run, visit, state, of.outcome.verified, words, sizeof words);
    if (state->rank == 0)
        conclude(run, visit, cell, &of.outcome);
    return true;
}

/* Again and again, until nobody is stopped meanwhile. */
static void time_whole_visit(struct mg_run *run, const struct mg_visit *visit,
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

void mg_perform(struct mg_run *run, const struct mg_visit *visit, struct mg_state *state,
                struct mg_cell *cell, struct mg_decision *decision)
{
    if (visit->pattern->sampling->probes)
        mg_probe_visit(run->plan, visit, state, mg_since_ns(run->start_ns));
    else if (mg_is_possible(run->plan, visit, state))
        time_whole_visit(run, visit, state, cell, decision);
    else
        cell->closed = true;
}
