/* tree - synchronises the clocks of many hosts along a tree
 * (docs/method-collectives.md#one-clock-for-all-ranks).
 *
 * Ranks of one host are expected to read one clock, and that is checked: a host where the bounds of
 * any rank exclude an offset of 0 is split, and each of its ranks counts as a host of its own. */
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
                                 int64_t *low_ns, int64_t *high_ns, mg_heartbeat_fn heartbeat)
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
        heartbeat();
    }
    MG_MPI(MPI_Allgather(&here.low_ns, 1, MPI_INT64_T, low_ns, 1, MPI_INT64_T, MPI_COMM_WORLD));
    MG_MPI(MPI_Allgather(&here.high_ns, 1, MPI_INT64_T, high_ns, 1, MPI_INT64_T, MPI_COMM_WORLD));
    return here;
}

/* Marks the leaders of hosts whose ranks cannot all be reading one clock. */
static void find_hosts_to_split(const struct mg_world *world, const int64_t *low_ns,
                                const int64_t *high_ns, bool *split)
{
    for (int rank = 0; rank < world->ranks; rank++)
        if (low_ns[rank] > 0 || high_ns[rank] < 0)
            split[world->leader_of[rank]] = true; // NOLINT(*.ArrayBound): leaders are ranks
}

void mg_world_split_hosts(struct mg_world *world, mg_heartbeat_fn heartbeat)
{
    int64_t *low_ns  = mg_array_of(world->ranks, sizeof *low_ns);
    int64_t *high_ns = mg_array_of(world->ranks, sizeof *high_ns);
    bool    *split   = mg_array_of(world->ranks, sizeof *split);

    (void) mg_world_bounds(world, world->leader_of, low_ns, high_ns, heartbeat);
    find_hosts_to_split(world, low_ns, high_ns, split);
    for (int rank = 0; rank < world->ranks; rank++)
        if (split[world->leader_of[rank]]) // NOLINT(*.ArrayBound)
            world->leader_of[rank] = rank;
    free(low_ns);
    free(high_ns);
    free(split);
    list_leaders(world);
}

/* ---- The tree -------------------------------------------------------------------------------- */

/* How far this clock may be off now, and how fast that grows. */
struct uncertainty {
    double bound_ns;
    double bound_slope;
};

static struct uncertainty uncertainty_now(void)
{
    const struct mg_clock_model model    = mg_global_clock_model();
    const double                since_ns = (double) (mg_now_ns() - model.base_ns);

    return (struct uncertainty){.bound_ns    = model.bound_ns + model.bound_slope * since_ns,
                                .bound_slope = model.bound_slope};
}

/* One edge of the tree, between the leaders with these indices: the child fits its model against
 * the parent, whose clock is corrected already and whose uncertainty adds to that of the child. */
static void sync_edge(const struct mg_world *world, int parent, int child,
                      mg_heartbeat_fn heartbeat)
{
    const int          parent_rank = world->leaders[parent];
    const int          child_rank  = world->leaders[child];
    struct uncertainty parents     = {0};

    if (world->rank == parent_rank) {
        mg_clock_serve(child_rank, heartbeat);
        parents = uncertainty_now();
        MG_MPI(MPI_Send(&parents, (int) sizeof parents, MPI_BYTE, child_rank, MG_TAG_CONTROL,
                        MPI_COMM_WORLD));
    } else if (world->rank == child_rank) {
        struct mg_bounds points[MG_FIT_POINTS];

        mg_clock_learn(parent_rank, points);
        MG_MPI(MPI_Recv(&parents, (int) sizeof parents, MPI_BYTE, parent_rank, MG_TAG_CONTROL,
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        mg_history_begin(points, MG_FIT_POINTS, parents.bound_ns);
        struct mg_clock_model model = mg_clock_fit(points, MG_FIT_POINTS);

        model.bound_ns += parents.bound_ns;
        model.bound_slope += parents.bound_slope;
        mg_global_clock_set(&model, false);
    }
}

/* HCA3 (Hunold and Carpen-Amarie, CLUSTER 2018): top down, all pairs of a level at the same time.
 * Parents answer with a corrected clock, so that models need no merging. */
void mg_tree_grow(const struct mg_world *world, mg_heartbeat_fn heartbeat)
{
    int power = 1;

    while (2 * power <= world->leaders_count)
        power *= 2;
    for (int distance = power / 2; distance >= 1; distance /= 2)
        for (int parent = 0; parent < power; parent += 2 * distance)
            sync_edge(world, parent, parent + distance, heartbeat);
    for (int child = power; child < world->leaders_count; child++)
        sync_edge(world, child - power, child, heartbeat);
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
