/* accumulate - rank 0 combines its elements with those in the memory of rank 1. */
#include "patterns/rma.h"
#include "rounds/sampling.h"

static void accumulate(struct mg_state *state, int rank)
{
    MG_MPI(MPI_Accumulate(state->send, state->count, state->datatype, rank,
                          mg_place_received(state, 0, rank), state->count, state->datatype,
                          state->op, state->rma->win));
}

static void flush(struct mg_state *state)
{
    mg_with_flush(state, accumulate);
}

static void lock(struct mg_state *state)
{
    mg_with_lock(state, accumulate, MPI_LOCK_SHARED);
}

static void fence(struct mg_state *state)
{
    mg_with_fence(state, accumulate);
}

/* The target held what it would contribute itself: see .accumulates. */
static bool piece(const struct mg_state *state, int i, struct mg_piece *piece)
{
    *piece = (struct mg_piece){.bytes = state->bytes, .source = 0, .ranks = 2};
    return i == 0 && state->rank == 1;
}

const struct mg_pattern mg_accumulate = {
    .name         = "accumulate",
    .about        = "rank 0 combines its elements with those of rank 1 with MPI_Accumulate",
    .time_of      = "one operation and its synchronisation on rank 0; rank 1 waits in MPI",
    .family       = MG_ONE_SIDED,
    .sampling     = &mg_sampling_chained,
    .min_ranks    = 2,
    .active_ranks = 2,
    .trips        = 1,
    .moves_bytes  = true,
    .reduces      = true,
    .accumulates  = true,
    .one_sided    = true,
    .wire         = MG_ONE_MESSAGE,
    .piece        = piece,
    .modes        = MG_MODES({.name       = "flush",
                              .about      = "MPI_Accumulate, MPI_Win_flush",
                              .begin      = mg_epoch_begin,
                              .call       = flush,
                              .finish     = mg_epoch_finish,
                              .directions = 1},
                             {.name       = "lock",
                              .about      = "MPI_Win_lock (shared), MPI_Accumulate, MPI_Win_unlock",
                              .call       = lock,
                              .directions = 1,
                              .instead_of = "flush"},
                             {.name       = "fence",
                              .about      = "MPI_Win_fence, MPI_Accumulate, MPI_Win_fence on both ranks",
                              .call       = fence,
                              .finish     = mg_fence_finish,
                              .directions = 1}),
};
