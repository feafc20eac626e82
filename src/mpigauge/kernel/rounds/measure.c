/* measure - makes the visits of a plan, alone or several at the same time, and checks the clocks
 * between them. */
#include "rounds/measure.h"

#include "clock/clock.h"
#include "clock/sync.h"
#include "machine/counters.h"
#include "machine/neighbours.h"
#include "memory/payload.h"
#include "memory/shared_memory.h"
#include "memory/windows.h"
#include "probe/heartbeat.h"
#include "ranks/abort.h"
#include "ranks/groups.h"
#include "ranks/settle.h"
#include "ranks/steps.h"
#include "ranks/stopped.h"
#include "rounds/common_start.h"
#include "rounds/samples.h"
#include "rounds/series.h"
#include "rounds/visit.h"
#include "rounds/warmup.h"
#include "text/journal.h"
#include "traffic/cards.h"

#include <stdio.h>
#include <stdlib.h>

/* Between two checks of the global clock: twice as long each time, since the first ones are further
 * points for models that were made in a hurry. */
static const int64_t first_block_ns        = 100000000;
static const int64_t most_block_ns         = 1000000000;
static const double  tolerated_clock_error = 0.1; /* of the time of the fastest cell */

/* ---- Visits of groups ------------------------------------------------------------------------ */

/* A visit of a group; its rank 0 decides whether it is skipped. */
static void visit_in_group(struct mg_run *run, const struct mg_visit *visit, struct mg_state *state)
{
    struct mg_cell    *cell     = &run->cells[visit->cell];
    const char        *skip     = state->rank == 0 ? mg_skip_reason(run, cell) : NULL;
    struct mg_decision decision = {
        .go = skip == NULL, .batch = cell->batch, .rounds = cell->rounds};

    mg_broadcast(state->comm, &decision, sizeof decision);
    if (!decision.go) {
        if (state->rank == 0)
            mg_journal_skip(visit, skip);
        return;
    }
    if (state->rank == 0) {
        mg_journal_begin(visit, mg_since_ns(run->start_ns),
                         mg_expected_ns(cell, mg_computes_as_long(visit->mode)));
        mg_settle();
    }
    mg_visit_run(run, visit, state, cell, &decision);
}

static void do_visit(struct mg_run *run, const struct mg_visit *visit, MPI_Request *requests)
{
    const struct mg_group group = mg_group_of(visit->ranks);
    union mg_room         room;
    struct mg_state       state = {
        .mode     = visit->mode,
        .room     = &room,
        .comm     = group.comm,
        .rank     = run->rank,
        .ranks    = group.ranks,
        .bytes    = visit->bytes,
        .window   = visit->window,
        .requests = requests,
        .starters = {
            .comm = group.comm, .rank = run->rank, .ranks = group.ranks, .key = group.ranks}};

    mg_heartbeat_begin(run->plan, visit, group.comm != MPI_COMM_NULL);
    if (group.comm != MPI_COMM_NULL)
        visit_in_group(run, visit, &state);
    if (group.ranks < run->plan->ranks)
        mg_idle_barrier();
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static struct mg_offer offer_of(void *context, const struct mg_visit *visit)
{
    const struct mg_run  *run  = context;
    const struct mg_cell *cell = &run->cells[visit->cell];
    const char           *skip = mg_skip_reason(run, cell);
    struct mg_offer offer = {.expect_ns = mg_expected_ns(cell, mg_computes_as_long(visit->mode))};

    (void) snprintf(offer.skip, sizeof offer.skip, "%s", skip != NULL ? skip : "");
    return offer;
}

/* The batch is that of all groups that start together; 0 if one of them has none yet. */
static void share_decision(const struct mg_state *state, struct mg_decision *decision)
{
    mg_broadcast(state->comm, decision, sizeof *decision);
    if (state->starters.ranks > state->ranks)
        MG_MPI(MPI_Allreduce(MPI_IN_PLACE, &decision->batch, 1, MPI_INT, MPI_MIN,
                             state->starters.comm));
}

static void visit_in_step(struct mg_run *run, const struct mg_visit *visit, struct mg_state *state)
{
    struct mg_cell    *cell     = &run->cells[visit->cell];
    struct mg_decision decision = {.go = true, .batch = cell->batch, .rounds = cell->rounds};

    share_decision(state, &decision);
    if (state->rank == 0)
        mg_journal_keep(visit, mg_step_send_tick);
    mg_visit_run(run, visit, state, cell, &decision);
}

/* All visits of a step at the same time; ranks without one sleep. */
static void do_step(struct mg_run *run, const struct mg_visit *visits, int count,
                    MPI_Request *requests)
{
    const struct mg_step   step  = mg_step_begin(visits, count, offer_of, run, &run->start_ns);
    const struct mg_visit *visit = step.visit;

    if (visit != NULL && step.go) {
        union mg_room   room;
        struct mg_state state = {.mode     = visit->mode,
                                 .room     = &room,
                                 .comm     = step.comm,
                                 .rank     = mg_own_place(visit, run->rank),
                                 .ranks    = visit->ranks,
                                 .bytes    = visit->bytes,
                                 .window   = visit->window,
                                 .requests = requests,
                                 .starters = step.starters};

        mg_heartbeat_begin(run->plan, visit, true);
        visit_in_step(run, visit, &state);
    }
    mg_heartbeat_begin(run->plan, visits, false);
    mg_step_end(visits, count);
}

/* ---- The run --------------------------------------------------------------------------------- */

static size_t most_requests(const struct mg_plan *plan)
{
    size_t most = 2; /* of a plan without visits */

    for (int i = 0; i < plan->visits_count; i++)
        if (mg_requests_per_call(&plan->visits[i]) > most)
            most = mg_requests_per_call(&plan->visits[i]);
    return most;
}

static void *zeros(size_t count, size_t bytes)
{
    void *data = calloc(count, bytes);

    if (data == NULL)
        MG_DIE("no memory for %zu cells", count);
    return data;
}

/* ---- The global clock ------------------------------------------------------------------------ */

/* Checks the global clock if that is due.  Between two checks it was no worse than either found. */
static void check_clock(struct mg_run *run, bool last)
{
    enum { DUE, TOLERANCE_NS, WORDS };
    int64_t check[WORDS] = {[DUE] = last || mg_now_ns() - run->checked_ns > run->block_ns,
                            [TOLERANCE_NS] =
                                (int64_t) (tolerated_clock_error * (double) run->fastest_ns)};

    mg_broadcast(MPI_COMM_WORLD, check, sizeof check);
    if (!check[DUE])
        return;
    mg_clocks_check(run->start_ns, check[TOLERANCE_NS], last);
    run->checked_ns = mg_now_ns();
    run->block_ns   = 2 * run->block_ns < most_block_ns ? 2 * run->block_ns : most_block_ns;
}

/* The time of a visit in which this rank was stopped does not count towards the deadline: how long
 * it was stopped is not known. */
static void subtract_stops(struct mg_run *run)
{
    const int64_t now_ns = mg_now_ns();
    const int     stops  = mg_stopped_count();

    if (stops != run->stops)
        run->stopped_ns += now_ns - run->stops_counted_ns;
    run->stops            = stops;
    run->stops_counted_ns = now_ns;
}

static void do_visits(struct mg_run *run, MPI_Request *requests)
{
    const struct mg_visit *visits = run->plan->visits;
    const struct mg_visit *end    = visits + run->plan->visits_count;
    const bool             global = mg_needs_clock(run->plan);

    if (global)
        mg_clocks_synchronise(run->start_ns);
    mg_heartbeat_end();
    run->visits_ns        = mg_now_ns();
    run->checked_ns       = run->visits_ns;
    run->block_ns         = first_block_ns;
    run->stops_counted_ns = run->visits_ns;
    run->stops            = mg_stopped_count();
    for (int count = 1; visits < end; visits += count) {
        count = mg_in_step(visits) ? mg_step_length(visits, end) : 1;
        if (mg_in_step(visits))
            do_step(run, visits, count, requests);
        else
            do_visit(run, visits, requests);
        mg_heartbeat_end();
        subtract_stops(run);
        if (global && mg_is_global(visits))
            check_clock(run, false);
    }
    if (global)
        check_clock(run, true);
}

void mg_measure(const struct mg_plan *plan, int64_t start_ns)
{
    struct mg_run run = {
        .plan     = plan,
        .start_ns = start_ns,
        .cells    = zeros((size_t) plan->cells_count, sizeof(struct mg_cell)),
    };
    MPI_Request *requests = (MPI_Request *) zeros(most_requests(plan), sizeof *requests);
    const int    room     = plan->rounds_max > MG_WARMUPS_MAX ? plan->rounds_max : MG_WARMUPS_MAX;

    MG_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &run.rank));
    mg_rounds_make(&run.rounds, room, mg_heartbeat);
    mg_rounds_make(&run.pure, room, mg_heartbeat);
    /* All memory in its final size: pages that moved later would change the launch.  A visit
     * without memory is refused in its turn. */
    mg_payload_reserve_all(plan, run.rank);
    mg_heartbeat_warm_up(plan); /* with the windows: to make one may hang, too */
    mg_windows_make(plan, mg_payload_exposed);
    mg_warm_up(plan);
    mg_steps_warm_up(plan);
    mg_neighbours_make(mg_clock_facts()->cost_ns);
    do_visits(&run, requests);

    for (int i = 0; i < plan->cells_count; i++)
        mg_series_free(&run.cells[i].series);
    free(run.cells);
    mg_rounds_free(&run.rounds);
    mg_rounds_free(&run.pure);
    mg_common_start_free();
    mg_clocks_free();
    mg_shared_free();
    mg_windows_free();
    mg_neighbours_free();
    mg_counters_free();
    mg_cards_free();
    free((void *) requests);
}
