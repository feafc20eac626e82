/* tree - one clock for many hosts (docs/method.md#one-clock-for-all-ranks): who reads one clock,
 * and a tree over those who do not.
 *
 * Ranks of one host read one clock, which is checked, not believed: a host where the bounds of any
 * rank exclude an offset of 0 is taken apart, each of its ranks a host of its own. */
#include "clock/tree.h"

#include "clock/clock.h"
#include "clock/global_clock.h"
#include "clock/offset.h"
#include "ranks/abort.h"
#include "ranks/groups.h"

#include <stdlib.h>
#include <string.h>

/* ---- Hosts ----------------------------------------------------------------------------------- */

static int leader_by_name(const char *names, int rank)
{
    int leader = 0;

    while (strcmp(names + (size_t) leader * MPI_MAX_PROCESSOR_NAME,
                  names + (size_t) rank * MPI_MAX_PROCESSOR_NAME) != 0)
        leader++;
    return leader;
}

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
    struct mg_world world = {0};
    char            name[MPI_MAX_PROCESSOR_NAME];
    int             length = 0;

    memset(name, 0, sizeof name);
    MG_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &world.rank));
    MG_MPI(MPI_Comm_size(MPI_COMM_WORLD, &world.ranks));
    MG_MPI(MPI_Get_processor_name(name, &length));
    world.leader_of = mg_array_of(world.ranks, sizeof *world.leader_of);
    world.leaders   = mg_array_of(world.ranks, sizeof *world.leaders);
    char *names     = mg_array_of(world.ranks, MPI_MAX_PROCESSOR_NAME);
    MG_MPI(MPI_Allgather(name, MPI_MAX_PROCESSOR_NAME, MPI_CHAR, names, MPI_MAX_PROCESSOR_NAME,
                         MPI_CHAR, MPI_COMM_WORLD));
    for (int rank = 0; rank < world.ranks; rank++)
        world.leader_of[rank] = leader_by_name(names, rank);
    free(names);
    list_leaders(&world);
    return world;
}

void mg_world_free(struct mg_world *world)
{
    free(world->leader_of);
    free(world->leaders);
}

void mg_world_bounds(const struct mg_world *world, const int *reference_of, int64_t *low_ns,
                     int64_t *high_ns)
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
    }
    MG_MPI(MPI_Allgather(&here.low_ns, 1, MPI_INT64_T, low_ns, 1, MPI_INT64_T, MPI_COMM_WORLD));
    MG_MPI(MPI_Allgather(&here.high_ns, 1, MPI_INT64_T, high_ns, 1, MPI_INT64_T, MPI_COMM_WORLD));
}

/* Whether a host's ranks cannot be reading one clock. */
static bool is_torn(const struct mg_world *world, int leader, const int64_t *low_ns,
                    const int64_t *high_ns)
{
    for (int rank = 0; rank < world->ranks; rank++)
        if (world->leader_of[rank] == leader && (low_ns[rank] > 0 || high_ns[rank] < 0))
            return true;
    return false;
}

void mg_world_check(struct mg_world *world)
{
    int64_t *low_ns  = mg_array_of(world->ranks, sizeof *low_ns);
    int64_t *high_ns = mg_array_of(world->ranks, sizeof *high_ns);
    int     *leaders = mg_array_of(world->ranks, sizeof *leaders);

    mg_world_bounds(world, world->leader_of, low_ns, high_ns);
    for (int rank = 0; rank < world->ranks; rank++)
        leaders[rank] =
            is_torn(world, world->leader_of[rank], low_ns, high_ns) ? rank : world->leader_of[rank];
    memcpy(world->leader_of, leaders, (size_t) world->ranks * sizeof *leaders);
    free(low_ns);
    free(high_ns);
    free(leaders);
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
static void teach_edge(const struct mg_world *world, int parent, int child)
{
    const int    parent_rank = world->leaders[parent];
    const int    child_rank  = world->leaders[child];
    struct doubt doubt       = {0};

    if (world->rank == parent_rank) {
        mg_clock_teach(child_rank);
        doubt = doubt_now();
        MG_MPI(MPI_Send(&doubt, (int) sizeof doubt, MPI_BYTE, child_rank, MG_TAG_CONTROL,
                        MPI_COMM_WORLD));
    } else if (world->rank == child_rank) {
        struct mg_clock_model model = mg_clock_learn(parent_rank);

        MG_MPI(MPI_Recv(&doubt, (int) sizeof doubt, MPI_BYTE, parent_rank, MG_TAG_CONTROL,
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        model.bound_ns += doubt.bound_ns;
        model.bound_slope += doubt.bound_slope;
        mg_global_clock_set(&model, false);
    }
}

/* HCA3 (Hunold and Carpen-Amarie, CLUSTER 2018): from the top down, all pairs of a level at a time,
 * each answering with a clock that is corrected already, so that models need no merging. */
void mg_tree_grow(const struct mg_world *world)
{
    int power = 1;

    while (2 * power <= world->leaders_count)
        power *= 2;
    for (int distance = power / 2; distance >= 1; distance /= 2)
        for (int parent = 0; parent < power; parent += 2 * distance)
            teach_edge(world, parent, parent + distance);
    for (int child = power; child < world->leaders_count; child++)
        teach_edge(world, child - power, child);
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
