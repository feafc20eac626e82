/* alltoallv - alltoall with a count and a displacement per block. */
#include "patterns/mockup.h"
#include "rounds/sampling.h"

#define ARGUMENTS                                                                            \
    mg_in(state), state->counts, state->displacements, MPI_BYTE, state->recv, state->counts, \
        state->displacements, MPI_BYTE, state->comm

MG_COLLECTIVE(Alltoallv, Ialltoallv)

MG_COUNTED_PARTS

const struct mg_pattern mg_alltoallv = {
    .name         = "alltoallv",
    .about        = "alltoall with a count and a place for every block, all equal here",
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
    .modes        = MG_MODES(MG_USUAL_MODES(Alltoallv, Ialltoallv),
                             MG_PARTS_MODES("MPI_Alltoallv", "blocking", .directions = 1)),
};
