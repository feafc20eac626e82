/* comm_split - a communicator is split in two, and the parts freed. */
#include "patterns/communicators.h"
#include "rounds/sampling.h"

#include <stdlib.h>

static int lower_half(const struct mg_state *state)
{
    return (state->ranks + 1) / 2;
}

static MPI_Comm half(struct mg_state *state)
{
    MPI_Comm made = MPI_COMM_NULL;

    MG_MPI(MPI_Comm_split(state->comm, state->rank < lower_half(state), state->rank, &made));
    return made;
}

static MPI_Comm host(struct mg_state *state)
{
    MPI_Comm made = MPI_COMM_NULL;

    MG_MPI(
        MPI_Comm_split_type(state->comm, MPI_COMM_TYPE_SHARED, state->rank, MPI_INFO_NULL, &made));
    return made;
}

MG_MAKES(halves, half)
MG_MAKES(hosts, host)

static bool check_half(const struct mg_state *state, char *error, size_t error_bytes)
{
    const int  lower  = lower_half(state);
    const bool is_low = state->rank < lower;

    return mg_is_made(mg_make_one(state), is_low ? lower : state->ranks - lower,
                      is_low ? state->rank : state->rank - lower, error, error_bytes);
}

/* Which ranks share memory the library knows alone; but each rank is in one part, with the rank of
 * its key there: as many members have a lower one. */
static bool check_host(const struct mg_state *state, char *error, size_t error_bytes)
{
    MPI_Comm made  = mg_make_one(state);
    int      ranks = 0;
    int      lower = 0;

    MG_MPI(MPI_Comm_size(made, &ranks));
    int *members = calloc((size_t) ranks, sizeof *members);
    if (members == NULL)
        MG_DIE("no memory for %d ranks", ranks);
    MG_MPI(MPI_Allgather(&state->rank, 1, MPI_INT, members, 1, MPI_INT, made));
    for (int i = 0; i < ranks; i++)
        lower += members[i] < state->rank;
    free(members);
    return mg_is_made(made, ranks, lower, error, error_bytes);
}

static bool check(const struct mg_state *state, char *error, size_t error_bytes)
{
    return mg_maker == half ? check_half(state, error, error_bytes)
                            : check_host(state, error, error_bytes);
}

const struct mg_pattern mg_comm_split = {
    .name  = "comm_split",
    .about = "a communicator is split and the parts freed",
    MG_MADE_AND_FREED,
    .check = check,
    .modes = MG_MODES({.name       = "halves",
                       .about      = "MPI_Comm_split in two halves, and MPI_Comm_free",
                       .begin      = halves_begin,
                       .call       = halves,
                       .directions = 1},
                      {.name       = "hosts",
                       .about      = "MPI_Comm_split_type by shared memory, and MPI_Comm_free",
                       .begin      = hosts_begin,
                       .call       = hosts,
                       .directions = 1}),
};
