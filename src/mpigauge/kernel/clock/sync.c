/* sync - one clock for all ranks (docs/method.md#one-clock-for-all-ranks): when it is learned, and
 * checks of what came out. */
#include "clock/sync.h"

#include "clock/clock.h"
#include "clock/global_clock.h"
#include "clock/tree.h"
#include "ranks/abort.h"
#include "ranks/groups.h"
#include "text/journal.h"

#include <stdlib.h>

enum { CHECK_ONE_IN = 20 /* of the ranks that are not always checked */ };

static const int64_t settled_ns = INT64_C(10000000000); /* not learned anew sooner */

static struct {
    int64_t  at_ns; /* when the clock was learned last */
    unsigned random;
} state = {.random = 1};

/* ---- Checks ---------------------------------------------------------------------------------- */

/* The last rank, the last of the tree's full part, and some at random, the same on all ranks. */
static void choose_checked(const struct mg_world *world, int *reference_of)
{
    int power = 1;

    while (2 * power <= world->ranks)
        power *= 2;
    for (int rank = 0; rank < world->ranks; rank++) {
        state.random      = state.random * 1664525u + 1013904223u;
        const bool chosen = rank == world->ranks - 1 || rank == power - 1 ||
                            state.random / 65536 % CHECK_ONE_IN == 0;

        reference_of[rank] = chosen ? 0 : rank;
    }
    reference_of[0] = 0;
}

/* How far off a clock must be, by its bounds. */
static int64_t least_offset_ns(const struct mg_clock_check *check)
{
    if (check->low_ns > 0)
        return check->low_ns;
    return check->high_ns < 0 ? -check->high_ns : 0;
}

/* Bounds of the global clocks against that of rank 0; returns the largest offset that is certain.
 */
static int64_t check_all(const struct mg_world *world, int64_t at_ns, bool with_models)
{
    int                        *reference_of = mg_array_of(world->ranks, sizeof *reference_of);
    int64_t                    *low_ns       = mg_array_of(world->ranks, sizeof *low_ns);
    int64_t                    *high_ns      = mg_array_of(world->ranks, sizeof *high_ns);
    struct mg_clock_check      *checks       = mg_array_of(world->ranks, sizeof *checks);
    struct mg_clock_model      *models       = mg_array_of(world->ranks, sizeof *models);
    const struct mg_clock_model model        = mg_global_clock_model();
    const bool                  shared       = mg_clocks_shared();
    int                         count        = 0;
    int64_t                     worst_ns     = 0;

    choose_checked(world, reference_of);
    mg_world_bounds(world, reference_of, low_ns, high_ns);
    MG_MPI(MPI_Gather(&model, (int) sizeof model, MPI_BYTE, models, (int) sizeof model, MPI_BYTE, 0,
                      MPI_COMM_WORLD));
    for (int rank = 1; rank < world->ranks; rank++) {
        if (reference_of[rank] == rank)
            continue;
        checks[count] = (struct mg_clock_check){
            .rank = rank, .low_ns = -high_ns[rank], .high_ns = -low_ns[rank]};
        const int64_t off_ns = least_offset_ns(&checks[count++]);
        worst_ns             = off_ns > worst_ns ? off_ns : worst_ns;
    }
    if (world->rank == 0)
        mg_journal_clock(at_ns, shared, checks, count, with_models && !shared ? models : NULL,
                         world->ranks);
    free(reference_of);
    free(low_ns);
    free(high_ns);
    free(checks);
    free(models);
    return worst_ns;
}

void mg_clocks_synchronise(int64_t start_ns)
{
    struct mg_world       world = mg_world_by_host();
    struct mg_clock_model model = {0};

    mg_global_clock_set(&model, mg_clocks_shared());
    mg_world_check(&world);
    const bool shared = world.leaders_count == 1;
    model.base_ns     = shared ? 0 : mg_now_ns();
    mg_global_clock_set(&model, shared);
    if (!shared) {
        mg_tree_grow(&world);
        mg_tree_spread(&world);
    }
    state.at_ns = mg_now_ns();
    (void) check_all(&world, mg_now_ns() - start_ns, true);
    mg_world_free(&world);
}

void mg_clocks_check(int64_t start_ns, int64_t tolerance_ns)
{
    struct mg_world world    = mg_world_by_host();
    const int64_t   worst_ns = check_all(&world, mg_now_ns() - start_ns, false);
    int             again    = worst_ns > tolerance_ns && mg_now_ns() - state.at_ns > settled_ns;

    mg_world_free(&world);
    mg_share(MPI_COMM_WORLD, &again, sizeof again);
    if (again)
        mg_clocks_synchronise(start_ns);
}
