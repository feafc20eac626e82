/* bcast - the root sends the same to all. */
#include "patterns/collective.h"
#include "rounds/sampling.h"

#define ARGUMENTS                                                                                  \
    (state->rank == state->root ? state->send : state->recv), state->count, MPI_BYTE, state->root, \
        state->comm

MG_COLLECTIVE(Bcast, Ibcast)

static bool piece(const struct mg_state *state, int i, struct mg_piece *piece)
{
    *piece = (struct mg_piece){.bytes = state->bytes, .source = state->root};
    return i == 0 && state->rank != state->root;
}

const struct mg_pattern mg_bcast = {
    .name        = "bcast",
    .about       = "the root sends the same to all ranks",
    .time_of     = "from the first start to the last end",
    .family      = MG_COLLECTIVE,
    .sampling    = &mg_sampling_common,
    .min_ranks   = 1,
    .trips       = 1,
    .moves_bytes = true,
    .rooted      = true,
    .bus         = MG_BUS_SAME,
    .wire        = MG_TO_OTHERS,
    .piece       = piece,
    .modes       = MG_COLLECTIVE_MODES(Bcast, Ibcast),
};
