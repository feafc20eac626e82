/* gather - the root gets a block from every rank. */
#include "patterns/collective.h"
#include "rounds/sampling.h"

#define ARGUMENTS                                                                      \
    mg_in_at_root(state), state->count, MPI_BYTE, state->recv, state->count, MPI_BYTE, \
        state->root, state->comm

MG_COLLECTIVE(Gather, Igather)

const struct mg_pattern mg_gather = {
    .name         = "gather",
    .about        = "the root gets a block from every rank",
    .time_of      = "from the first start to the last end",
    .family       = MG_COLLECTIVE,
    .sampling     = &mg_sampling_common,
    .min_ranks    = 1,
    .trips        = 1,
    .moves_bytes  = true,
    .recv_each    = true,
    .rooted       = true,
    .may_in_place = true,
    .bus          = MG_BUS_OTHERS,
    .wire         = MG_TO_OTHERS,
    .piece        = mg_blocks_at_root,
    .modes        = MG_COLLECTIVE_MODES(Gather, Igather),
};
