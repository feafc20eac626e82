/* sync - one clock for all ranks (method 2.2 to 2.4): hard bounds of offsets, linear models of
 * clocks that drift, a tree over hosts, and checks of what came out.
 *
 * Ranks of one host read one clock, which is checked, not believed: a host where the bounds of any
 * rank exclude an offset of 0 is taken apart, each of its ranks a host of its own. */
#include "kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    EXCHANGES     = 20, /* of one offset: at most; fewer if the best round trip is met again */
    EXCHANGES_MIN = 8,
    FIT_POINTS    = 50,
    CHECK_ONE_IN  = 20, /* of the ranks that are not always checked */
};

static const int64_t fit_ns       = 1000000000; /* time over which a drift is learned */
static const double  best_again   = 1.1;
static const int64_t settled_ns   = INT64_C(10000000000); /* not learned anew sooner */
static const int     stop_message = -1;

static struct mg_clock_model model;  /* of this rank */
static bool                  shared; /* all ranks read one clock: there is nothing to correct */
static int64_t               synchronised_ns;
static unsigned              random_state = 1;

/* ---- The global clock ------------------------------------------------------------------------ */

bool mg_clocks_shared(void)
{
    return shared;
}

int64_t mg_global_of(int64_t local_ns)
{
    const double since = (double) (local_ns - model.base_ns);

    return local_ns - llround(model.offset_ns + model.slope * since);
}

int64_t mg_local_of(int64_t global_ns)
{
    const double since = (double) (global_ns - model.base_ns) + model.offset_ns;

    return model.base_ns + llround(since / (1 - model.slope));
}

/* ---- An offset and its bounds ---------------------------------------------------------------- */

/* Bounds of (reference - client), both by their global clocks as far as they have learned one.
 * A message is received after it was sent, so each stamp of the reference that comes back lies
 * between the two readings of the client: source method 2.2, after SKaMPI. */
static struct mg_bounds exchange(int reference, int exchanges)
{
    struct mg_bounds bounds     = {.low_ns = INT64_MIN, .high_ns = INT64_MAX};
    int64_t          best_ns    = INT64_MAX;
    int64_t          low_at_ns  = 0;
    int64_t          high_at_ns = 0;
    int              again      = 1;

    for (int i = 0; again; i++) {
        int64_t stamp_ns = 0;

        const int64_t sent_ns = mg_global_of(mg_now_ns());
        MG_MPI(MPI_Send(&again, 1, MPI_INT, reference, MG_TAG_CONTROL, MPI_COMM_WORLD));
        MG_MPI(MPI_Recv(&stamp_ns, 1, MPI_INT64_T, reference, MG_TAG_CONTROL, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
        const int64_t got_ns = mg_global_of(mg_now_ns());

        if (stamp_ns - got_ns > bounds.low_ns) {
            bounds.low_ns = stamp_ns - got_ns;
            low_at_ns     = got_ns;
        }
        if (stamp_ns - sent_ns < bounds.high_ns) {
            bounds.high_ns = stamp_ns - sent_ns;
            high_at_ns     = sent_ns;
        }
        const int64_t trip_ns = got_ns - sent_ns;
        const bool    met     = (double) trip_ns <= best_again * (double) best_ns;
        best_ns               = trip_ns < best_ns ? trip_ns : best_ns;
        again                 = i + 1 < exchanges && !(i + 1 >= EXCHANGES_MIN && met);
    }
    MG_MPI(MPI_Send(&stop_message, 1, MPI_INT, reference, MG_TAG_CONTROL, MPI_COMM_WORLD));
    bounds.at_ns = low_at_ns + (high_at_ns - low_at_ns) / 2;
    return bounds;
}

/* The other side: answers with the global clock until it is told to stop. */
static void answer(int client)
{
    for (;;) {
        int again = 0;

        MG_MPI(MPI_Recv(&again, 1, MPI_INT, client, MG_TAG_CONTROL, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
        if (again == stop_message)
            return;
        const int64_t stamp_ns = mg_global_of(mg_now_ns());
        MG_MPI(MPI_Send(&stamp_ns, 1, MPI_INT64_T, client, MG_TAG_CONTROL, MPI_COMM_WORLD));
    }
}

/* ---- Learning a clock ----------------------------------------------------------------------- */

/* The client's side of a level of the tree: its model, valid from now on. */
static struct mg_clock_model learn(int reference)
{
    struct mg_bounds points[FIT_POINTS];
    const int64_t    begin_ns = mg_now_ns();

    for (int i = 0; i < FIT_POINTS; i++) {
        while (mg_now_ns() < begin_ns + i * (fit_ns / FIT_POINTS))
            ;
        points[i] = exchange(reference, EXCHANGES);
    }
    return mg_clock_fit(points, FIT_POINTS);
}

static void teach(int client)
{
    for (int i = 0; i < FIT_POINTS; i++)
        answer(client);
}

/* ---- Hosts ----------------------------------------------------------------------------------- */

/* The world as this file sees it: the leader of every rank, and the leaders in order.  All arrays
 * have one place for every rank; the same on all ranks. */
struct world {
    int  rank;
    int  ranks;
    int *leader_of;
    int *leaders;
    int  leaders_count;
};

static int leader_by_name(const char *names, int rank)
{
    int leader = 0;

    while (strcmp(names + (size_t) leader * MPI_MAX_PROCESSOR_NAME,
                  names + (size_t) rank * MPI_MAX_PROCESSOR_NAME) != 0)
        leader++;
    return leader;
}

static void *array_of(int count, size_t bytes)
{
    void *array = calloc((size_t) count, bytes);

    if (array == NULL)
        MG_DIE("no memory to synchronise %d clocks", count);
    return array;
}

static void list_leaders(struct world *world)
{
    world->leaders_count = 0;
    for (int rank = 0; rank < world->ranks; rank++)
        if (world->leader_of[rank] == rank)
            world->leaders[world->leaders_count++] = rank;
}

static struct world world_by_host(void)
{
    struct world world = {0};
    char         name[MPI_MAX_PROCESSOR_NAME];
    int          length = 0;

    memset(name, 0, sizeof name);
    MG_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &world.rank));
    MG_MPI(MPI_Comm_size(MPI_COMM_WORLD, &world.ranks));
    MG_MPI(MPI_Get_processor_name(name, &length));
    world.leader_of = array_of(world.ranks, sizeof *world.leader_of);
    world.leaders   = array_of(world.ranks, sizeof *world.leaders);
    char *names     = array_of(world.ranks, MPI_MAX_PROCESSOR_NAME);
    MG_MPI(MPI_Allgather(name, MPI_MAX_PROCESSOR_NAME, MPI_CHAR, names, MPI_MAX_PROCESSOR_NAME,
                         MPI_CHAR, MPI_COMM_WORLD));
    for (int rank = 0; rank < world.ranks; rank++)
        world.leader_of[rank] = leader_by_name(names, rank);
    free(names);
    list_leaders(&world);
    return world;
}

static void world_free(struct world *world)
{
    free(world->leader_of);
    free(world->leaders);
}

/* Every rank against its leader, one after the other; the bounds of all on all ranks. */
static void take_bounds(const struct world *world, const int *reference_of, int64_t *low_ns,
                        int64_t *high_ns)
{
    struct mg_bounds here = {0};

    for (int rank = 0; rank < world->ranks; rank++) {
        const int reference = reference_of[rank];

        if (reference == rank)
            continue;
        if (world->rank == reference)
            answer(rank);
        if (world->rank == rank)
            here = exchange(reference, EXCHANGES);
    }
    MG_MPI(MPI_Allgather(&here.low_ns, 1, MPI_INT64_T, low_ns, 1, MPI_INT64_T, MPI_COMM_WORLD));
    MG_MPI(MPI_Allgather(&here.high_ns, 1, MPI_INT64_T, high_ns, 1, MPI_INT64_T, MPI_COMM_WORLD));
}

/* Whether a host's ranks cannot be reading one clock. */
static bool is_torn(const struct world *world, int leader, const int64_t *low_ns,
                    const int64_t *high_ns)
{
    for (int rank = 0; rank < world->ranks; rank++)
        if (world->leader_of[rank] == leader && (low_ns[rank] > 0 || high_ns[rank] < 0))
            return true;
    return false;
}

/* Takes such hosts apart: each of their ranks is a host of its own. */
static void check_hosts(struct world *world)
{
    int64_t *low_ns  = array_of(world->ranks, sizeof *low_ns);
    int64_t *high_ns = array_of(world->ranks, sizeof *high_ns);
    int     *leaders = array_of(world->ranks, sizeof *leaders);

    take_bounds(world, world->leader_of, low_ns, high_ns);
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
    const double since_ns = (double) (mg_now_ns() - model.base_ns);

    return (struct doubt){.bound_ns    = model.bound_ns + model.bound_slope * since_ns,
                          .bound_slope = model.bound_slope};
}

/* One edge of the tree, between the leaders of these numbers: the child learns from the parent,
 * whose clock is global already and whose doubt is the child's, too. */
static void teach_edge(const struct world *world, int parent, int child)
{
    const int    parent_rank = world->leaders[parent];
    const int    child_rank  = world->leaders[child];
    struct doubt doubt       = {0};

    if (world->rank == parent_rank) {
        teach(child_rank);
        doubt = doubt_now();
        MG_MPI(MPI_Send(&doubt, (int) sizeof doubt, MPI_BYTE, child_rank, MG_TAG_CONTROL,
                        MPI_COMM_WORLD));
    } else if (world->rank == child_rank) {
        model = learn(parent_rank);
        MG_MPI(MPI_Recv(&doubt, (int) sizeof doubt, MPI_BYTE, parent_rank, MG_TAG_CONTROL,
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        model.bound_ns += doubt.bound_ns;
        model.bound_slope += doubt.bound_slope;
    }
}

/* HCA3 (Hunold and Carpen-Amarie, CLUSTER 2018): from the top down, all pairs of a level at a time,
 * each answering with a clock that is corrected already, so that models need no merging. */
static void grow_tree(const struct world *world)
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

/* Ranks of a host take over what its leader has learned. */
static void spread_in_hosts(const struct world *world)
{
    for (int rank = 0; rank < world->ranks; rank++) {
        const int leader = world->leader_of[rank];

        if (leader == rank)
            continue;
        if (world->rank == leader)
            MG_MPI(MPI_Send(&model, (int) sizeof model, MPI_BYTE, rank, MG_TAG_CONTROL,
                            MPI_COMM_WORLD));
        if (world->rank == rank)
            MG_MPI(MPI_Recv(&model, (int) sizeof model, MPI_BYTE, leader, MG_TAG_CONTROL,
                            MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
}

/* ---- Checks ---------------------------------------------------------------------------------- */

/* The last rank, the last of the tree's full part, and some at random, the same on all ranks. */
static void choose_checked(const struct world *world, int *reference_of)
{
    int power = 1;

    while (2 * power <= world->ranks)
        power *= 2;
    for (int rank = 0; rank < world->ranks; rank++) {
        random_state      = random_state * 1664525u + 1013904223u;
        const bool chosen = rank == world->ranks - 1 || rank == power - 1 ||
                            random_state / 65536 % CHECK_ONE_IN == 0;

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
static int64_t check_all(const struct world *world, int64_t at_ns, bool with_models)
{
    int                   *reference_of = array_of(world->ranks, sizeof *reference_of);
    int64_t               *low_ns       = array_of(world->ranks, sizeof *low_ns);
    int64_t               *high_ns      = array_of(world->ranks, sizeof *high_ns);
    struct mg_clock_check *checks       = array_of(world->ranks, sizeof *checks);
    struct mg_clock_model *models       = array_of(world->ranks, sizeof *models);
    int                    count        = 0;
    int64_t                worst_ns     = 0;

    choose_checked(world, reference_of);
    take_bounds(world, reference_of, low_ns, high_ns);
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
    struct world world = world_by_host();

    model = (struct mg_clock_model){0};
    check_hosts(&world);
    shared = world.leaders_count == 1;
    if (!shared) {
        model.base_ns = mg_now_ns();
        grow_tree(&world);
        spread_in_hosts(&world);
    }
    synchronised_ns = mg_now_ns();
    (void) check_all(&world, mg_now_ns() - start_ns, true);
    world_free(&world);
}

void mg_clocks_check(int64_t start_ns, int64_t tolerance_ns)
{
    struct world  world    = world_by_host();
    const int64_t worst_ns = check_all(&world, mg_now_ns() - start_ns, false);
    int           again    = worst_ns > tolerance_ns && mg_now_ns() - synchronised_ns > settled_ns;

    world_free(&world);
    mg_share(MPI_COMM_WORLD, &again, sizeof again);
    if (again)
        mg_clocks_synchronise(start_ns);
}
