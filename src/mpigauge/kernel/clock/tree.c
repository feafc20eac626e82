/* tree - one clock for many hosts: who reads one clock, and a tree over those who do not
 * (docs/method-collectives.md#one-clock-for-all-ranks).
 *
 * Ranks of one host read one clock, which is checked, not believed: a host where the bounds of any
 * rank exclude an offset of 0 is taken apart, each of its ranks a host of its own. */
#include "clock/tree.h"

#include "clock/clock.h"
#include "clock/global_clock.h"
#include "clock/history.h"
#include "clock/offset.h"
#include "ranks/abort.h"
#include "ranks/groups.h"
#include "ranks/hosts.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- Hosts ----------------------------------------------------------------------------------- */

void *mg_array_of(int count, size_t bytes)
{
    void *array = calloc((size_t) count, bytes);

    if (array == NULL)
        MG_DIE("no memory to synchronise %d clocks", count);
    return array;
}

static void list_leaders(struct mg_world *world)
{
    world->leaders_count = 0;
    for (int rank = 0; rank < world->ranks; rank++)
        if (world->leader_of[rank] == rank)
            world->leaders[world->leaders_count++] = rank;
}

struct mg_world mg_world_by_host(void)
{
    const struct mg_hosts *hosts = mg_hosts();
    struct mg_world        world = {.rank = hosts->rank, .ranks = hosts->ranks};

    world.leader_of = mg_array_of(world.ranks, sizeof *world.leader_of);
    world.leaders   = mg_array_of(world.ranks, sizeof *world.leaders);
    memcpy(world.leader_of, hosts->leader_of, (size_t) world.ranks * sizeof *world.leader_of);
    list_leaders(&world);
    return world;
}

void mg_world_free(struct mg_world *world)
{
    free(world->leader_of);
    free(world->leaders);
}

struct mg_bounds mg_world_bounds(const struct mg_world *world, const int *reference_of,
                                 int64_t *low_ns, int64_t *high_ns, mg_alive_fn alive)
{
    struct mg_bounds here = {0};

    for (int rank = 0; rank < world->ranks; rank++) {
        const int reference = reference_of[rank];

        if (reference == rank)
            continue;
        if (world->rank == reference)
            mg_offset_answer(rank);
        if (world->rank == rank)
            here = mg_offset_of(reference);
        alive();
    }
    MG_MPI(MPI_Allgather(&here.low_ns, 1, MPI_INT64_T, low_ns, 1, MPI_INT64_T, MPI_COMM_WORLD));
    MG_MPI(MPI_Allgather(&here.high_ns, 1, MPI_INT64_T, high_ns, 1, MPI_INT64_T, MPI_COMM_WORLD));
    return here;
}

/* The leaders of hosts whose ranks cannot all be reading one clock. */
static void find_torn(const struct mg_world *world, const int64_t *low_ns, const int64_t *high_ns,
                      bool *torn)
{
    for (int rank = 0; rank < world->ranks; rank++)
        if (low_ns[rank] > 0 || high_ns[rank] < 0)
            torn[world->leader_of[rank]] = true; // NOLINT(*.ArrayBound): leaders are ranks
}

void mg_world_check(struct mg_world *world, mg_alive_fn alive)
{
    int64_t *low_ns  = mg_array_of(world->ranks, sizeof *low_ns);
    int64_t *high_ns = mg_array_of(world->ranks, sizeof *high_ns);
    bool    *torn    = mg_array_of(world->ranks, sizeof *torn);

    (void) mg_world_bounds(world, world->leader_of, low_ns, high_ns, alive);
    find_torn(world, low_ns, high_ns, torn);
    for (int rank = 0; rank < world->ranks; rank++)
        if (torn[world->leader_of[rank]]) // NOLINT(*.ArrayBound)
            world->leader_of[rank] = rank;
    free(low_ns);
    free(high_ns);
    free(torn);
    list_leaders(world);
}

/* ---- The tree -------------------------------------------------------------------------------- */

/* How far this clock may be off by now, and how fast that grows. */
struct doubt {
    double bound_ns;
    double bound_slope;
};

static struct doubt doubt_now(void)
{
    const struct mg_clock_model model    = mg_global_clock_model();
    const double                since_ns = (double) (mg_now_ns() - model.base_ns);

    return (struct doubt){.bound_ns    = model.bound_ns + model.bound_slope * since_ns,
                          .bound_slope = model.bound_slope};
}

/* One edge of the tree, between the leaders of these numbers: the child learns from the parent,
 * whose clock is global already and whose doubt is the child's, too. */
static void teach_edge(const struct mg_world *world, int parent, int child, mg_alive_fn alive)
{
    const int    parent_rank = world->leaders[parent];
    const int    child_rank  = world->leaders[child];
    struct doubt doubt       = {0};

    if (world->rank == parent_rank) {
        mg_clock_teach(child_rank, alive);
        doubt = doubt_now();
        MG_MPI(MPI_Send(&doubt, (int) sizeof doubt, MPI_BYTE, child_rank, MG_TAG_CONTROL,
                        MPI_COMM_WORLD));
    } else if (world->rank == child_rank) {
        struct mg_bounds points[MG_FIT_POINTS];

        mg_clock_learn(parent_rank, points);
        MG_MPI(MPI_Recv(&doubt, (int) sizeof doubt, MPI_BYTE, parent_rank, MG_TAG_CONTROL,
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        mg_history_begin(points, MG_FIT_POINTS, doubt.bound_ns);
        struct mg_clock_model model = mg_clock_fit(points, MG_FIT_POINTS);

        model.bound_ns += doubt.bound_ns;
        model.bound_slope += doubt.bound_slope;
        mg_global_clock_set(&model, false);
    }
}

/* HCA3 (Hunold and Carpen-Amarie, CLUSTER 2018): from the top down, all pairs of a level at a time,
 * each answering with a clock that is corrected already, so that models need no merging. */
void mg_tree_grow(const struct mg_world *world, mg_alive_fn alive)
{
    int power = 1;

    while (2 * power <= world->leaders_count)
        power *= 2;
    for (int distance = power / 2; distance >= 1; distance /= 2)
        for (int parent = 0; parent < power; parent += 2 * distance)
            teach_edge(world, parent, parent + distance, alive);
    for (int child = power; child < world->leaders_count; child++)
        teach_edge(world, child - power, child, alive);
}

void mg_tree_spread(const struct mg_world *world)
{
    struct mg_clock_model model = mg_global_clock_model();

    for (int rank = 0; rank < world->ranks; rank++) {
        const int leader = world->leader_of[rank];

        if (leader == rank)
            continue;
        if (world->rank == leader)
            MG_MPI(MPI_Send(&model, (int) sizeof model, MPI_BYTE, rank, MG_TAG_CONTROL,
                            MPI_COMM_WORLD));
        if (world->rank == rank) {
            MG_MPI(MPI_Recv(&model, (int) sizeof model, MPI_BYTE, leader, MG_TAG_CONTROL,
                            MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            mg_global_clock_set(&model, false);
        }
    }
}
