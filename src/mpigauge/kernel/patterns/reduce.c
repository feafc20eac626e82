/* reduce - the root gets the reduction over all ranks. */
#include "patterns/collective.h"
#include "rounds/sampling.h"

#define ARGUMENTS                                                                             \
    mg_in_at_root(state), state->recv, state->count, state->datatype, state->op, state->root, \
        state->comm

MG_COLLECTIVE(Reduce, Ireduce)

static bool piece(const struct mg_state *state, int i, struct mg_piece *piece)
{
    return mg_reduced_over_all(state, i, piece) && state->rank == state->root;
}

const struct mg_pattern mg_reduce = {
    .name         = "reduce",
    .about        = "the root gets the reduction over all ranks",
    .time_of      = "from the first start to the last end",
    .family       = MG_COLLECTIVE,
    .sampling     = &mg_sampling_common,
    .min_ranks    = 1,
    .trips        = 1,
    .moves_bytes  = true,
    .reduces      = true,
    .rooted       = true,
    .may_in_place = true,
    .bus          = MG_BUS_SAME,
    .wire         = MG_TO_OTHERS,
    .piece        = piece,
    .modes        = MG_COLLECTIVE_MODES(Reduce, Ireduce),
};
