/* allgather - all get a block from every rank. */
#include "patterns/collective.h"
#include "rounds/sampling.h"

#define ARGUMENTS \
    mg_in(state), state->count, MPI_BYTE, state->recv, state->count, MPI_BYTE, state->comm

MG_COLLECTIVE(Allgather, Iallgather)

const struct mg_pattern mg_allgather = {
    .name         = "allgather",
    .about        = "all ranks get a block from every rank",
    .time_of      = "from the first start to the last end",
    .family       = MG_COLLECTIVE,
    .sampling     = &mg_sampling_common,
    .min_ranks    = 1,
    .trips        = 1,
    .moves_bytes  = true,
    .recv_each    = true,
    .may_in_place = true,
    .bus          = MG_BUS_OTHERS,
    .wire         = MG_ALL_TO_OTHERS,
    .piece        = mg_blocks_of_all,
    .modes        = MG_COLLECTIVE_MODES(Allgather, Iallgather),
};
