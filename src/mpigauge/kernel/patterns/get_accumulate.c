/* get_accumulate - rank 0 combines its elements with those of rank 1, and gets what was there. */
#include "patterns/rma.h"
#include "rounds/sampling.h"

static void get_accumulate(struct mg_state *state, int rank)
{
    MG_MPI(MPI_Get_accumulate(state->send, state->count, state->datatype, state->recv, state->count,
                              state->datatype, rank, mg_place_received(state, 0, rank),
                              state->count, state->datatype, state->op, state->rma->win));
}

static void flush(struct mg_state *state)
{
    mg_with_flush(state, get_accumulate);
}

static void lock(struct mg_state *state)
{
    mg_with_lock(state, get_accumulate, MPI_LOCK_SHARED);
}

static void fence(struct mg_state *state)
{
    mg_with_fence(state, get_accumulate);
}

/* The target held what it would contribute itself, see .accumulates; rank 0 has got that. */
static bool piece(const struct mg_state *state, int i, struct mg_piece *piece)
{
    const bool is_target = state->rank == 1;

    *piece = (struct mg_piece){
        .bytes = state->bytes, .source = is_target ? 0 : 1, .ranks = is_target ? 2 : 1};
    return i == 0;
}

const struct mg_pattern mg_get_accumulate = {
    .name         = "get_accumulate",
    .about        = "rank 0 combines its elements with those of rank 1 with MPI_Get_accumulate",
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
    .modes = MG_MODES({.name       = "flush",
                       .about      = "MPI_Get_accumulate, MPI_Win_flush",
                       .begin      = mg_epoch_begin,
                       .call       = flush,
                       .finish     = mg_epoch_finish,
                       .directions = 1},
                      {.name       = "lock",
                       .about      = "MPI_Win_lock (shared), MPI_Get_accumulate, MPI_Win_unlock",
                       .call       = lock,
                       .directions = 1,
                       .instead_of = "flush"},
                      {.name   = "fence",
                       .about  = "MPI_Win_fence, MPI_Get_accumulate, MPI_Win_fence on both ranks",
                       .call   = fence,
                       .finish = mg_fence_finish,
                       .directions = 1}),
};
