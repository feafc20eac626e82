/* scatter - the root sends a block to every rank. */
#include "patterns/collective.h"
#include "rounds/sampling.h"

#define ARGUMENTS                                                                       \
    state->send, state->count, MPI_BYTE, mg_out_at_root(state), state->count, MPI_BYTE, \
        state->root, state->comm

MG_COLLECTIVE(Scatter, Iscatter)

const struct mg_pattern mg_scatter = {
    .name         = "scatter",
    .about        = "the root sends a block to every rank",
    .time_of      = "from the first start to the last end",
    .family       = MG_COLLECTIVE,
    .sampling     = &mg_sampling_common,
    .min_ranks    = 1,
    .trips        = 1,
    .moves_bytes  = true,
    .send_each    = true,
    .rooted       = true,
    .may_in_place = true,
    .bus          = MG_BUS_OTHERS,
    .wire         = MG_TO_OTHERS,
    .piece        = mg_own_block_of_root,
    .modes        = MG_COLLECTIVE_MODES(Scatter, Iscatter),
};
