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

static void begin(struct mg_state *state)
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

static void in_order(struct mg_state *state)
{
    MPI_Comm made = grid(state, 0);

    MG_MPI(MPI_Comm_free(&made));
}

static void reordered(struct mg_state *state)
{
    MPI_Comm made = grid(state, 1);

    MG_MPI(MPI_Comm_free(&made));
}

static bool check(const struct mg_state *state, char *error, size_t error_bytes)
{
    return mg_is_made(grid(state, 0), state->ranks, state->rank, error, error_bytes);
}

const struct mg_pattern mg_cart_create = {
    .name  = "cart_create",
    .about = "a communicator with a periodic grid of two dimensions is made and freed",
    MG_MADE_AND_FREED,
    .check = check,
    .modes = MG_MODES({.name       = "in-order",
                       .about      = "MPI_Cart_create without reordering, and MPI_Comm_free",
                       .begin      = begin,
                       .call       = in_order,
                       .directions = 1,
                       .scratch    = MG_ONE_MESSAGE},
                      {.name       = "reorder",
                       .about      = "MPI_Cart_create that may reorder ranks, and MPI_Comm_free",
                       .begin      = begin,
                       .call       = reordered,
                       .directions = 1,
                       .scratch    = MG_ONE_MESSAGE}),
};
