/* accumulate - rank 0 combines its elements with those in the memory of rank 1. */
#include "patterns/rma.h"
#include "rounds/sampling.h"

static void accumulate(struct mg_state *state, int rank)
{
    MG_MPI(MPI_Accumulate(state->send, state->count, state->datatype, rank,
                          mg_place_received(state, 0, rank), state->count, state->datatype,
                          state->op, state->rma->win));
}

MG_RMA_CALL(flush, accumulate)
MG_RMA_CALL(lock, accumulate)
MG_RMA_CALL(fence, accumulate)

/* The target held what it would contribute itself: see .accumulates. */
static bool piece(const struct mg_state *state, int i, struct mg_piece *piece)
{
    *piece = (struct mg_piece){.bytes = state->bytes, .source = 0, .ranks = 2};
    return i == 0 && state->rank == 1;
}

const struct mg_pattern mg_accumulate = {
    .name  = "accumulate",
    .about = "rank 0 combines its elements with those of rank 1 with MPI_Accumulate",
    MG_ONE_OPERATION,
    .reduces     = true,
    .accumulates = true,
    .piece       = piece,
    .modes       = MG_MODES(MG_FLUSH("MPI_Accumulate", "", mg_epoch_begin, .directions = 1),
                            MG_LOCK("MPI_Accumulate", NULL, .directions = 1),
                            MG_FENCE("MPI_Accumulate", MG_OF_FENCES, .directions = 1)),
};
