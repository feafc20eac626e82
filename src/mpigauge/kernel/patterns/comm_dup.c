/* comm_dup - a communicator is duplicated, and the copy freed. */
#include "patterns/calls.h"
#include "patterns/communicators.h"
#include "rounds/sampling.h"

static void blocking(struct mg_state *state)
{
    MPI_Comm made = MPI_COMM_NULL;

    MG_MPI(MPI_Comm_dup(state->comm, &made));
    MG_MPI(MPI_Comm_free(&made));
}

static MPI_Comm nonblocking_dup(const struct mg_state *state)
{
    MPI_Comm made = MPI_COMM_NULL;

    MG_MPI(MPI_Comm_idup(state->comm, &made, state->requests));
    mg_wait(state->requests);
    return made;
}

static void nonblocking(struct mg_state *state)
{
    MPI_Comm made = nonblocking_dup(state);

    MG_MPI(MPI_Comm_free(&made));
}

static bool check(const struct mg_state *state, char *error, size_t error_bytes)
{
    MPI_Comm made = MPI_COMM_NULL;

    MG_MPI(MPI_Comm_dup(state->comm, &made));
    const bool dup = mg_is_made(made, state->ranks, state->rank, error, error_bytes);
    const bool idup =
        mg_is_made(nonblocking_dup(state), state->ranks, state->rank, error, error_bytes);
    return dup && idup;
}

const struct mg_pattern mg_comm_dup = {
    .name  = "comm_dup",
    .about = "a communicator is duplicated and the copy freed",
    MG_MADE_AND_FREED,
    .check = check,
    .modes = MG_MODES({.name       = "blocking",
                       .about      = "MPI_Comm_dup and MPI_Comm_free",
                       .call       = blocking,
                       .directions = 1},
                      {.name       = "nonblocking",
                       .about      = "MPI_Comm_idup, MPI_Wait and MPI_Comm_free",
                       .call       = nonblocking,
                       .directions = 1}),
};
