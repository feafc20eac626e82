/* alltoallw - alltoallv with a datatype per block, all MPI_BYTE here, and places in bytes. */
#include "patterns/mockup.h"
#include "rounds/sampling.h"

#define ARGUMENTS                                                                                \
    mg_in(state), state->counts, state->displacements, state->types, state->recv, state->counts, \
        state->displacements, state->types, state->comm

MG_COLLECTIVE(Alltoallw, Ialltoallw)

static void alltoallv(struct mg_state *state)
{
    MG_MPI(MPI_Alltoallv(mg_in(state), state->counts, state->displacements, MPI_BYTE, state->recv,
                         state->counts, state->displacements, MPI_BYTE, state->comm));
}

MG_COUNTED_PARTS

const struct mg_pattern mg_alltoallw = {
    .name         = "alltoallw",
    .about        = "alltoallv with a datatype for every block, all MPI_BYTE here",
    .time_of      = "from the first start to the last end",
    .family       = MG_COLLECTIVE,
    .sampling     = &mg_sampling_common,
    .min_ranks    = 1,
    .trips        = 1,
    .moves_bytes  = true,
    .send_each    = true,
    .recv_each    = true,
    .may_in_place = true,
    .counts_all   = true,
    .bus          = MG_BUS_OTHERS,
    .wire         = MG_ALL_TO_OTHERS,
    .piece        = mg_own_blocks,
    .modes        = MG_MODES(MG_USUAL_MODES(Alltoallw, Ialltoallw),
                             MG_MOCKUP("alltoallv", "MPI_Alltoallv", alltoallv),
                             MG_PARTS_MODES("MPI_Alltoallw", "blocking", .directions = 1)),
};
