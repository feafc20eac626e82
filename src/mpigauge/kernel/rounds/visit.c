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
    PROOF_CALLS   = 64,
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
    decision->warmups = mg_warmups_for(cell);
    mg_share(state->comm, decision, sizeof *decision);
    return trials;
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

/* Rank 0 alone: what is known of the visit goes to the journal, and decides about the next one. */
static void conclude(struct mg_run *run, const struct mg_visit *visit, struct mg_cell *cell,
                     struct mg_outcome *outcome)
{
    const struct mg_rounds *rounds     = &run->rounds;
    int64_t                *samples_ns = malloc((size_t) rounds->count * sizeof *samples_ns);

    if (samples_ns == NULL)
        MG_DIE("no memory for %d samples", rounds->count);
    const int     count     = punctual(rounds, samples_ns);
    const int64_t median_ns = mg_median_of(samples_ns, count);

    outcome->elapsed_ns = mg_now_ns() - run->start_ns - outcome->at_ns;
    mg_series_append(&cell->series, samples_ns, count, (int) outcome->batch);
    const struct mg_standing standing = mg_series_standing(&cell->series);
    cell->spent_ns += outcome->elapsed_ns;
    cell->closed = outcome->corrupt != NULL;
    mg_size_up(run, visit, cell, (double) median_ns / (double) outcome->batch,
               (double) rounds->elapsed_ns / rounds->count / (double) outcome->batch);
    if (mg_is_global(visit) && (run->fastest_ns == 0 || median_ns < run->fastest_ns))
        run->fastest_ns = median_ns;
    report(visit, rounds, &standing, outcome);
    mg_journal_visit(visit, outcome);
    free(samples_ns);
}

/* The rounds of `overlap` without and with a computation that takes as long as they do. */
static void time_pure(struct mg_run *run, const struct mg_visit *visit, struct mg_state *state,
                      struct mg_walk *walk, const struct mg_decision *decision,
                      struct mg_outcome *outcome)
{
    state->work = 0;
    if (!visit->mode->overlaps)
        return;
    visit->pattern->sampling->run(visit, state, walk, decision->batch, decision->rounds,
                                  MG_OVERDRAFT * mg_share_ns(run), &run->pure);
    outcome->net_calls += run->pure.calls;
    outcome->backwards += mg_clamp(run->pure.samples_ns, run->pure.count);
    const int count  = punctual(&run->pure, run->pure.samples_ns);
    outcome->pure_ns = (mg_numbers){run->pure.samples_ns, count};
    outcome->work_ns = mg_median_of(run->pure.samples_ns, count);
    mg_share(state->comm, &outcome->work_ns, sizeof outcome->work_ns);
    state->work = mg_work_for(outcome->work_ns);
}

static const char *what_is_wrong(const struct mg_run *run, const struct mg_visit *visit,
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
 * cards count.  So those are called a few times without them.  All hosts have read their counters
 * before anybody calls. */
static void prove(const struct mg_visit *visit, struct mg_state *state, struct mg_outcome *outcome)
{
    if (!mg_is_global(visit) || visit->bytes >= PROVED_BYTES)
        return;
    struct mg_carried before;

    mg_carried_until_now(visit, state, &before);
    begin(visit, state);
    if (state->rank == 0) /* the handshake of the begin is none of its messages */
        mg_cards_read_ip(&before);
    for (outcome->net_calls = 0; outcome->net_calls < PROOF_CALLS; outcome->net_calls++)
        visit->mode->call(state);
    finish(visit, state);
    mg_carried_since(visit, state, &before, outcome);
}

static int trips_of(const struct mg_visit *visit, const struct mg_state *state)
{
    if (visit->pattern->trips == MG_TRIPS_RANKS)
        return visit->ranks;
    if (visit->pattern->trips == MG_TRIPS_REPEAT)
        return state->repeats;
    return visit->pattern->trips > 0 ? visit->pattern->trips : visit->window;
}

/* Samples that do not count, the first of which are kept. */
static void warm_up(struct mg_run *run, const struct mg_visit *visit, struct mg_state *state,
                    struct mg_walk *walk, const struct mg_decision *decision, int64_t *kept_ns,
                    struct mg_outcome *outcome)
{
    visit->pattern->sampling->run(visit, state, walk, decision->batch, decision->warmups,
                                  MG_OVERDRAFT * mg_share_ns(run), &run->rounds);
    const int kept = run->rounds.count < MG_WARMUPS ? run->rounds.count : MG_WARMUPS;

    memcpy(kept_ns, run->rounds.samples_ns, (size_t) kept * sizeof *kept_ns);
    outcome->backwards += mg_clamp(kept_ns, kept);
    outcome->warmup_ns = (mg_numbers){kept_ns, kept};
    outcome->net_calls += run->rounds.calls;
}

/* The rounds of a visit, and what the cards have carried for them. */
static void time_rounds(struct mg_run *run, const struct mg_visit *visit, struct mg_state *state,
                        struct mg_walk *walk, const struct mg_decision *decision, int64_t *kept_ns,
                        struct mg_outcome *outcome)
{
    struct mg_carried before;

    mg_carried_until_now(visit, state, &before);
    begin(visit, state);
    warm_up(run, visit, state, walk, decision, kept_ns, outcome);
    time_pure(run, visit, state, walk, decision, outcome);
    visit->pattern->sampling->run(visit, state, walk, decision->batch, decision->rounds,
                                  MG_OVERDRAFT * mg_share_ns(run), &run->rounds);
    finish(visit, state);
    mg_carried_since(visit, state, &before, outcome);
    outcome->net_calls += run->rounds.calls;
    outcome->backwards += mg_clamp(run->rounds.samples_ns, run->rounds.count);
    state->work = 0;
}

/* Whether it counts: one in which a rank was stopped does not, and leaves no trace. */
static bool time_visit(struct mg_run *run, const struct mg_visit *visit, struct mg_state *state,
                       struct mg_cell *cell, struct mg_decision *decision)
{
    const int           stops = mg_stopped_times();
    int64_t             trial_ns[MG_TRIALS];
    int64_t             kept_ns[MG_WARMUPS];
    char                words[MG_WORDS_BYTES];
    int                 slots = 1;
    struct mg_condition condition;
    struct mg_outcome   outcome = {.at_ns = mg_now_ns() - run->start_ns};

    mg_payload_prepare(visit, state, &slots);
    struct mg_walk walk   = mg_payload_walk(visit, state, slots);
    const int      trials = prepare(run, visit, state, &walk, cell, decision, trial_ns);
    outcome.trial_ns      = (mg_numbers){trial_ns, trials};
    outcome.backwards     = mg_clamp(trial_ns, trials);
    mg_alive();

    mg_condition_take(visit, state, &condition, MG_BEFORE);
    time_rounds(run, visit, state, &walk, decision, kept_ns, &outcome);
    mg_condition_take(visit, state, &condition, MG_AFTER);
    mg_condition_tell(state, &condition, &outcome);
    mg_payload_walked(&walk);
    mg_alive();
    prove(visit, state, &outcome);
    mg_carried_tell(visit, state, &outcome);

    state->send   = walk.send_first;
    state->recv   = walk.recv_first;
    outcome.batch = decision->batch;
    outcome.ops   = (int64_t) decision->batch * trips_of(visit, state);
    run->rounds.cpu_ns =
        cpu_of_all(state, visit->pattern->sampling->cpu_known ? run->rounds.cpu_ns : -1);
    outcome.pool_bytes = slots > 1 ? (int64_t) visit->pool_bytes : 0;
    outcome.corrupt    = what_is_wrong(run, visit, state, words, sizeof words);
    if (!mg_all(state->comm, mg_stopped_times() == stops))
        return false;
    if (state->rank == 0)
        conclude(run, visit, cell, &outcome);
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
        mg_probe_visit(run->plan, visit, state, mg_now_ns() - run->start_ns);
    else if (mg_is_possible(run->plan, visit, state))
        time_whole_visit(run, visit, state, cell, decision);
    else
        cell->closed = true;
}
