/* get_accumulate - rank 0 combines its elements with those of rank 1, and gets what was there. */
#include "patterns/rma.h"
#include "rounds/sampling.h"

static void get_accumulate(struct mg_state *state, int rank)
{
    MG_MPI(MPI_Get_accumulate(state->send, state->count, state->datatype, state->recv, state->count,
                              state->datatype, rank, mg_place_received(state, 0, rank),
                              state->count, state->datatype, state->op, state->rma->win));
}

MG_RMA_CALL(flush, get_accumulate)
MG_RMA_CALL(lock, get_accumulate)
MG_RMA_CALL(fence, get_accumulate)

/* The target held what it would contribute itself, see .accumulates; rank 0 has got that. */
static bool piece(const struct mg_state *state, int i, struct mg_piece *piece)
{
    const bool is_target = state->rank == 1;

    *piece = (struct mg_piece){
        .bytes = state->bytes, .source = is_target ? 0 : 1, .ranks = is_target ? 2 : 1};
    return i == 0;
}

const struct mg_pattern mg_get_accumulate = {
    .name  = "get_accumulate",
    .about = "rank 0 combines its elements with those of rank 1 with MPI_Get_accumulate",
    MG_ONE_OPERATION,
    .reduces     = true,
    .accumulates = true,
    .piece       = piece,
    .modes       = MG_MODES(MG_FLUSH("MPI_Get_accumulate", "", mg_epoch_begin, .directions = 1),
                            MG_LOCK("MPI_Get_accumulate", NULL, .directions = 1),
                            MG_FENCE("MPI_Get_accumulate", MG_OF_FENCES, .directions = 1)),
};
