/* comm_dup - a communicator is duplicated, and the copy freed. */
#include "patterns/calls.h"
#include "patterns/communicators.h"
#include "rounds/sampling.h"

static MPI_Comm blocking_dup(struct mg_state *state)
{
    MPI_Comm made = MPI_COMM_NULL;

    MG_MPI(MPI_Comm_dup(state->comm, &made));
    return made;
}

static MPI_Comm nonblocking_dup(struct mg_state *state)
{
    MPI_Comm made = MPI_COMM_NULL;

    MG_MPI(MPI_Comm_idup(state->comm, &made, state->requests));
    mg_wait(state->requests);
    return made;
}

MG_MAKES(blocking, blocking_dup)
MG_MAKES(nonblocking, nonblocking_dup)

static bool check(const struct mg_state *state, char *error, size_t error_bytes)
{
    return mg_is_made(mg_make_one(state), state->ranks, state->rank, error, error_bytes);
}

const struct mg_pattern mg_comm_dup = {
    .name  = "comm_dup",
    .about = "a communicator is duplicated and the copy freed",
    MG_MADE_AND_FREED,
    .check = check,
    .modes = MG_MODES({.name       = "blocking",
                       .about      = "MPI_Comm_dup and MPI_Comm_free",
                       .begin      = blocking_begin,
                       .call       = blocking,
                       .directions = 1},
                      {.name       = "nonblocking",
                       .about      = "MPI_Comm_idup, MPI_Wait and MPI_Comm_free",
                       .begin      = nonblocking_begin,
                       .call       = nonblocking,
                       .directions = 1}),
};
