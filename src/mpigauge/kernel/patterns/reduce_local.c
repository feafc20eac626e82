/* reduce_local - the arithmetic of a reduction, without communication. */
#include "patterns/calls.h"
#include "rounds/sampling.h"

static void call(struct mg_state *state)
{
    MG_MPI(MPI_Reduce_local(state->send, state->recv, state->count, state->datatype, state->op));
}

/* recv held what rank 1 would contribute: see .accumulates. */
static bool piece(const struct mg_state *state, int i, struct mg_piece *piece)
{
    *piece = (struct mg_piece){.bytes = state->bytes, .source = 0, .ranks = 2};
    return i == 0;
}

const struct mg_pattern mg_reduce_local = {
    .name         = "reduce_local",
    .about        = "the arithmetic of a reduction: two operands in this rank's memory",
    .time_of      = "one reduction of one operand into another",
    .family       = MG_MEMORY,
    .sampling     = &mg_sampling_chained,
    .min_ranks    = 1,
    .active_ranks = 1,
    .trips        = 1,
    .least_ns     = 20000,
    .moves_bytes  = true,
    .reduces      = true,
    .accumulates  = true,
    .piece        = piece,
    .modes =
        MG_MODES({.name = "standard", .about = "MPI_Reduce_local", .call = call, .directions = 1}),
};
