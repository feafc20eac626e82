/* alltoall - every rank sends a block of its own to every rank. */
#include "patterns/mockup.h"
#include "rounds/sampling.h"

#define ARGUMENTS \
    mg_in(state), state->count, MPI_BYTE, state->recv, state->count, MPI_BYTE, state->comm

MG_COLLECTIVE(Alltoall, Ialltoall)

static void alltoallv(struct mg_state *state)
{
    MG_MPI(MPI_Alltoallv(mg_in(state), state->counts, state->displacements, MPI_BYTE, state->recv,
                         state->counts, state->displacements, MPI_BYTE, state->comm));
}

MG_COLLECTIVE_PARTS

const struct mg_pattern mg_alltoall = {
    .name         = "alltoall",
    .about        = "every rank sends a block of its own to every rank",
    .time_of      = "from the first start to the last end",
    .family       = MG_COLLECTIVE,
    .sampling     = &mg_sampling_common,
    .min_ranks    = 1,
    .trips        = 1,
    .moves_bytes  = true,
    .send_each    = true,
    .recv_each    = true,
    .may_in_place = true,
    .bus          = MG_BUS_OTHERS,
    .wire         = MG_ALL_TO_OTHERS,
    .piece        = mg_own_blocks,
    .modes        = MG_MODES(MG_USUAL_MODES(Alltoall, Ialltoall),
                             MG_MOCKUP("alltoallv", "MPI_Alltoallv", alltoallv, .counts_all = true),
                             MG_PARTS_MODES("MPI_Alltoall", "blocking", .directions = 1)),
};
