/* comm_split - a communicator is split in two, and the parts freed. */
#include "patterns/communicators.h"
#include "rounds/sampling.h"

static int lower_half(const struct mg_state *state)
{
    return (state->ranks + 1) / 2;
}

static MPI_Comm half(const struct mg_state *state)
{
    MPI_Comm made = MPI_COMM_NULL;

    MG_MPI(MPI_Comm_split(state->comm, state->rank < lower_half(state), state->rank, &made));
    return made;
}

static void halves(struct mg_state *state)
{
    MPI_Comm made = half(state);

    MG_MPI(MPI_Comm_free(&made));
}

static void hosts(struct mg_state *state)
{
    MPI_Comm made = MPI_COMM_NULL;

    MG_MPI(
        MPI_Comm_split_type(state->comm, MPI_COMM_TYPE_SHARED, state->rank, MPI_INFO_NULL, &made));
    MG_MPI(MPI_Comm_free(&made));
}

static bool check(const struct mg_state *state, char *error, size_t error_bytes)
{
    const int  lower  = lower_half(state);
    const bool is_low = state->rank < lower;

    return mg_is_made(half(state), is_low ? lower : state->ranks - lower,
                      is_low ? state->rank : state->rank - lower, error, error_bytes);
}

const struct mg_pattern mg_comm_split = {
    .name  = "comm_split",
    .about = "a communicator is split and the parts freed",
    MG_MADE_AND_FREED,
    .check = check,
    .modes = MG_MODES({.name       = "halves",
                       .about      = "MPI_Comm_split in two halves, and MPI_Comm_free",
                       .call       = halves,
                       .directions = 1},
                      {.name       = "hosts",
                       .about      = "MPI_Comm_split_type by shared memory, and MPI_Comm_free",
                       .call       = hosts,
                       .directions = 1}),
};
