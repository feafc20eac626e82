/* scatterv - scatter with a count and a place for every block. */
#include "collective.h"

#define ARGUMENTS                                                                         \
    state->send, state->counts, state->displacements, MPI_BYTE, out(state), state->count, \
        MPI_BYTE, state->root, state->comm

/* In place, the root's own block stays where it is. */
static void *out(const struct mg_state *state)
{
    return state->in_place && state->rank == state->root ? MPI_IN_PLACE : state->recv;
}

MG_COLLECTIVE(Scatterv, Iscatterv)

static bool piece(const struct mg_state *state, int i, struct mg_piece *piece)
{
    *piece = (struct mg_piece){
        .from = (size_t) state->rank * state->bytes, .bytes = state->bytes, .source = state->root};
    return i == 0 && !(state->in_place && state->rank == state->root);
}

const struct mg_pattern mg_scatterv = {
    .name         = "scatterv",
    .about        = "scatter with a count and a place for every block, all equal here",
    .time_of      = "from the first start to the last end",
    .sampling     = MG_COMMON,
    .min_ranks    = 1,
    .trips        = 1,
    .moves_bytes  = true,
    .send_each    = true,
    .rooted       = true,
    .may_in_place = true,
    .bus          = MG_BUS_OTHERS,
    .piece        = piece,
    .modes        = MG_MODES(Scatterv, Iscatterv),
};
