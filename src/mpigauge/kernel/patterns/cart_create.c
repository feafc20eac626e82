/* cart_create - a communicator with a periodic grid of two dimensions is made, and freed. */
#include "patterns/communicators.h"
#include "rounds/sampling.h"

enum { DIMENSIONS = 2 };

static const int periods[DIMENSIONS] = {1, 1};

/* The edges of the grid are in scratch memory, since only begin is not timed. */
static int *edges(const struct mg_state *state)
{
    return (int *) (void *) state->scratch;
}

static void find_edges(struct mg_state *state)
{
    for (int i = 0; i < DIMENSIONS; i++)
        edges(state)[i] = 0;
    MG_MPI(MPI_Dims_create(state->ranks, DIMENSIONS, edges(state)));
}

static MPI_Comm grid(const struct mg_state *state, int reorder)
{
    MPI_Comm made = MPI_COMM_NULL;

    MG_MPI(MPI_Cart_create(state->comm, DIMENSIONS, edges(state), periods, reorder, &made));
    return made;
}

static MPI_Comm grid_in_order(struct mg_state *state)
{
    return grid(state, 0);
}

static MPI_Comm grid_reordered(struct mg_state *state)
{
    return grid(state, 1);
}

MG_MAKES(in_order, grid_in_order)
MG_MAKES(reordered, grid_reordered)

static void begin_in_order(struct mg_state *state)
{
    in_order_begin(state);
    find_edges(state);
}

static void begin_reordered(struct mg_state *state)
{
    reordered_begin(state);
    find_edges(state);
}

/* Whether a communicator is the grid that was asked for, with this rank at a place of it. */
static bool is_grid(const struct mg_state *state, MPI_Comm made, int rank)
{
    int found[DIMENSIONS]  = {0};
    int closed[DIMENSIONS] = {0};
    int at[DIMENSIONS]     = {0};
    int there              = -1;

    MG_MPI(MPI_Cart_get(made, DIMENSIONS, found, closed, at));
    MG_MPI(MPI_Cart_rank(made, at, &there));
    for (int i = 0; i < DIMENSIONS; i++)
        if (found[i] != edges(state)[i] || !closed[i])
            return false;
    return there == rank;
}

/* The rank may be another one where the mode says so. */
static bool check(const struct mg_state *state, char *error, size_t error_bytes)
{
    MPI_Comm made = mg_make_one(state);
    int      rank = 0;

    MG_MPI(MPI_Comm_rank(made, &rank));
    const bool right = is_grid(state, made, rank);
    if (!mg_is_made(made, state->ranks, mg_maker == grid_reordered ? rank : state->rank, error,
                    error_bytes))
        return false;
    if (!right)
        (void) snprintf(error, error_bytes, "a new communicator is not a periodic grid of %d by %d",
                        edges(state)[0], edges(state)[1]);
    return right;
}

const struct mg_pattern mg_cart_create = {
    .name  = "cart_create",
    .about = "a communicator with a periodic grid of two dimensions is made and freed",
    MG_MADE_AND_FREED,
    .check = check,
    .modes = MG_MODES({.name       = "in-order",
                       .about      = "MPI_Cart_create without reordering, and MPI_Comm_free",
                       .begin      = begin_in_order,
                       .call       = in_order,
                       .directions = 1,
                       .scratch    = MG_ONE_MESSAGE},
                      {.name       = "reorder",
                       .about      = "MPI_Cart_create that may reorder ranks, and MPI_Comm_free",
                       .begin      = begin_reordered,
                       .call       = reordered,
                       .directions = 1,
                       .scratch    = MG_ONE_MESSAGE}),
};
