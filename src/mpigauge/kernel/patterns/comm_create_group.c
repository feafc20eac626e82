/* comm_create_group - a communicator is made of a group, and freed. */
#include "patterns/communicators.h"
#include "ranks/groups.h"
#include "rounds/sampling.h"

static void begin(struct mg_state *state)
{
    MG_MPI(MPI_Comm_group(state->comm, &state->group));
}

static void finish(struct mg_state *state)
{
    MG_MPI(MPI_Group_free(&state->group));
}

static void of_members(struct mg_state *state)
{
    MPI_Comm made = MPI_COMM_NULL;

    MG_MPI(MPI_Comm_create_group(state->comm, state->group, MG_TAG, &made));
    MG_MPI(MPI_Comm_free(&made));
}

static void of_parent(struct mg_state *state)
{
    MPI_Comm made = MPI_COMM_NULL;

    MG_MPI(MPI_Comm_create(state->comm, state->group, &made));
    MG_MPI(MPI_Comm_free(&made));
}

static bool check(const struct mg_state *state, char *error, size_t error_bytes)
{
    struct mg_state apart   = *state;
    MPI_Comm        members = MPI_COMM_NULL;
    MPI_Comm        all     = MPI_COMM_NULL;

    begin(&apart);
    MG_MPI(MPI_Comm_create_group(apart.comm, apart.group, MG_TAG, &members));
    MG_MPI(MPI_Comm_create(apart.comm, apart.group, &all));
    finish(&apart);
    const bool first = mg_is_made(members, state->ranks, state->rank, error, error_bytes);
    return mg_is_made(all, state->ranks, state->rank, error, error_bytes) && first;
}

const struct mg_pattern mg_comm_create_group = {
    .name  = "comm_create_group",
    .about = "a communicator is made of a group of all ranks and freed",
    MG_MADE_AND_FREED,
    .check = check,
    .modes =
        MG_MODES({.name       = "members",
                  .about      = "MPI_Comm_create_group, which only members of the group call, "
                                "and MPI_Comm_free",
                  .begin      = begin,
                  .call       = of_members,
                  .finish     = finish,
                  .directions = 1},
                 {.name  = "parent",
                  .about = "MPI_Comm_create, which all ranks of the parent call, and MPI_Comm_free",
                  .begin = begin,
                  .call  = of_parent,
                  .finish     = finish,
                  .directions = 1}),
};
