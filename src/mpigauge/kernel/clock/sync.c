/* sync - one clock for all ranks: when it is learned, and checks of what came out
 * (docs/method-collectives.md#one-clock-for-all-ranks). */
#include "clock/sync.h"

#include "clock/clock.h"
#include "clock/global_clock.h"
#include "clock/history.h"
#include "clock/tree.h"
#include "ranks/abort.h"
#include "ranks/groups.h"
#include "text/journal.h"

#include <stdlib.h>

enum {
    CHECK_ONE_IN = 20, /* of the ranks that are not always checked ... */
    CHECKED_MOST = 64, /* ... and no more than about so many of them: they are asked one by one */
    LEADERS_MOST = 64, /* in one check, in turn: rank 0 answers one after the other */
};

static const int64_t settled_ns = INT64_C(10000000000); /* not learned anew sooner */

static struct {
    struct mg_world world; /* as the check of hosts has left it */
    int64_t         at_ns; /* when the clock was learned last */
    unsigned        random;
    int             turn; /* number of the leader to be checked next */
} state = {.random = 1};

/* ---- Checks ---------------------------------------------------------------------------------- */

static bool is_chosen(const struct mg_world *world, int rank, int power)
{
    const unsigned few    = (unsigned) (world->ranks / CHECKED_MOST);
    const unsigned one_in = few > CHECK_ONE_IN ? few : CHECK_ONE_IN;

    state.random = state.random * 1664525u + 1013904223u;
    return rank == world->ranks - 1 || rank == power - 1 || state.random / 65536 % one_in == 0;
}

/* Leaders in turn, whose clocks are learned further; the last rank, the last of the tree's full
 * part, and some at random.  The same on all ranks. */
static void choose_checked(const struct mg_world *world, int *reference_of)
{
    const int leaders = world->leaders_count < LEADERS_MOST ? world->leaders_count : LEADERS_MOST;
    int       power   = 1;

    while (2 * power <= world->ranks)
        power *= 2;
    for (int rank = 0; rank < world->ranks; rank++)
        reference_of[rank] = is_chosen(world, rank, power) ? 0 : rank;
    for (int i = 0; i < leaders; i++)
        reference_of[world->leaders[(state.turn + i) % world->leaders_count]] = 0;
    state.turn      = (state.turn + leaders) % world->leaders_count;
    reference_of[0] = 0;
}

/* How far off a clock must be, by its bounds. */
static int64_t least_offset_ns(const struct mg_clock_check *check)
{
    if (check->low_ns > 0)
        return check->low_ns;
    return check->high_ns < 0 ? -check->high_ns : 0;
}

/* The checks of all that were chosen; returns how many, and the largest offset that is certain. */
static int list_checks(const struct mg_world *world, const int *reference_of, const int64_t *low_ns,
                       const int64_t *high_ns, struct mg_clock_check *checks, int64_t *worst_ns_p)
{
    int count = 0;

    *worst_ns_p = 0;
    for (int rank = 1; rank < world->ranks; rank++) {
        if (reference_of[rank] == rank)
            continue;
        checks[count] = (struct mg_clock_check){
            .rank = rank, .low_ns = -high_ns[rank], .high_ns = -low_ns[rank]};
        const int64_t off_ns = least_offset_ns(&checks[count++]);
        *worst_ns_p          = off_ns > *worst_ns_p ? off_ns : *worst_ns_p;
    }
    return count;
}

static void report(const struct mg_world *world, int64_t at_ns, const struct mg_clock_check *checks,
                   int count, bool with_models)
{
    const struct mg_clock_model model  = mg_global_clock_model();
    struct mg_clock_model      *models = mg_array_of(world->ranks, sizeof *models);

    if (with_models)
        MG_MPI(MPI_Gather(&model, (int) sizeof model, MPI_BYTE, models, (int) sizeof model,
                          MPI_BYTE, 0, MPI_COMM_WORLD));
    if (world->rank == 0)
        mg_journal_clock(at_ns, mg_clocks_shared(), checks, count, with_models ? models : NULL,
                         world->ranks);
    free(models);
}

/* A check of a leader is a point for its model, by the clock as it is without one.  Clock errors
 * make every collective longer, never shorter: a model is followed as soon as more is known, not
 * when it is certainly wrong. */
static void learn_more(const struct mg_world *world, const struct mg_bounds *bounds, bool checked)
{
    if (checked && world->leader_of[world->rank] == world->rank) {
        const int64_t               here_ns  = mg_local_of(bounds->at_ns);
        const int64_t               ahead_ns = bounds->at_ns - here_ns;
        const struct mg_bounds      point    = {.low_ns  = bounds->low_ns + ahead_ns,
                                                .high_ns = bounds->high_ns + ahead_ns,
                                                .at_ns   = here_ns};
        const struct mg_clock_model before   = mg_global_clock_model();

        mg_history_add(&point);
        const struct mg_clock_model model = mg_history_fit(&before);
        mg_global_clock_set(&model, false);
    }
    mg_tree_spread(world);
}

/* Bounds of the global clocks against that of rank 0; returns the largest offset that is certain.
 */
static int64_t check_all(const struct mg_world *world, int64_t at_ns, bool with_models)
{
    int                   *reference_of = mg_array_of(world->ranks, sizeof *reference_of);
    int64_t               *low_ns       = mg_array_of(world->ranks, sizeof *low_ns);
    int64_t               *high_ns      = mg_array_of(world->ranks, sizeof *high_ns);
    struct mg_clock_check *checks       = mg_array_of(world->ranks, sizeof *checks);
    int64_t                worst_ns     = 0;

    choose_checked(world, reference_of);
    const struct mg_bounds own =
        mg_world_bounds(world, reference_of, low_ns, high_ns, mg_journal_alive);
    const int count = list_checks(world, reference_of, low_ns, high_ns, checks, &worst_ns);
    report(world, at_ns, checks, count, with_models && !mg_clocks_shared());
    if (!mg_clocks_shared())
        learn_more(world, &own, world->rank > 0 && reference_of[world->rank] == 0);
    free(reference_of);
    free(low_ns);
    free(high_ns);
    free(checks);
    return worst_ns;
}

void mg_clocks_synchronise(int64_t start_ns)
{
    struct mg_clock_model model = {0};

    mg_world_free(&state.world);
    state.world = mg_world_by_host();
    mg_global_clock_set(&model, mg_clocks_shared());
    mg_world_check(&state.world, mg_journal_alive);
    const bool shared = state.world.leaders_count == 1;
    model.base_ns     = shared ? 0 : mg_now_ns();
    mg_global_clock_set(&model, shared);
    if (!shared) {
        mg_tree_grow(&state.world, mg_journal_alive);
        mg_tree_spread(&state.world);
    }
    state.turn  = 0;
    state.at_ns = mg_now_ns();
    (void) check_all(&state.world, mg_since_ns(start_ns), true);
}

void mg_clocks_check(int64_t start_ns, int64_t tolerance_ns, bool last)
{
    const int64_t worst_ns = check_all(&state.world, mg_since_ns(start_ns), last);
    int again = !last && worst_ns > tolerance_ns && mg_now_ns() - state.at_ns > settled_ns;

    mg_share(MPI_COMM_WORLD, &again, sizeof again);
    if (again)
        mg_clocks_synchronise(start_ns);
}

void mg_clocks_free(void)
{
    mg_world_free(&state.world);
    state.world = (struct mg_world){0};
}
