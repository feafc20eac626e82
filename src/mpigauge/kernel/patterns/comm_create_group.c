/* comm_create_group - a communicator is made of a group, and freed. */
#include "patterns/communicators.h"
#include "ranks/groups.h"
#include "rounds/sampling.h"

static void make_group(struct mg_state *state)
{
    MG_MPI(MPI_Comm_group(state->comm, &state->group));
}

static void finish(struct mg_state *state)
{
    MG_MPI(MPI_Group_free(&state->group));
}

static MPI_Comm by_members(struct mg_state *state)
{
    MPI_Comm made = MPI_COMM_NULL;

    MG_MPI(MPI_Comm_create_group(state->comm, state->group, MG_TAG, &made));
    return made;
}

static MPI_Comm by_parent(struct mg_state *state)
{
    MPI_Comm made = MPI_COMM_NULL;

    MG_MPI(MPI_Comm_create(state->comm, state->group, &made));
    return made;
}

MG_MAKES(members, by_members)
MG_MAKES(parent, by_parent)

static void begin_members(struct mg_state *state)
{
    members_begin(state);
    make_group(state);
}

static void begin_parent(struct mg_state *state)
{
    parent_begin(state);
    make_group(state);
}

static bool check(const struct mg_state *state, char *error, size_t error_bytes)
{
    struct mg_state apart = *state;

    make_group(&apart);
    MPI_Comm made = mg_make_one(&apart);
    finish(&apart);
    return mg_is_made(made, state->ranks, state->rank, error, error_bytes);
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
                  .begin      = begin_members,
                  .call       = members,
                  .finish     = finish,
                  .directions = 1},
                 {.name  = "parent",
                  .about = "MPI_Comm_create, which all ranks of the parent call, and MPI_Comm_free",
                  .begin = begin_parent,
                  .call  = parent,
                  .finish     = finish,
                  .directions = 1}),
};
