/* put - rank 0 writes into the memory of rank 1, which does nothing for it unless it has to. */
#include "patterns/rma.h"
#include "rounds/sampling.h"

static void put(struct mg_state *state, int rank)
{
    mg_put_bytes(state, 0, rank);
}

static void flush(struct mg_state *state)
{
    mg_with_flush(state, put);
}

static void flush_local(struct mg_state *state)
{
    mg_with_flush_local(state, put);
}

static void lock(struct mg_state *state)
{
    mg_with_lock(state, put, MPI_LOCK_SHARED);
}

static void lock_exclusive(struct mg_state *state)
{
    mg_with_lock(state, put, MPI_LOCK_EXCLUSIVE);
}

static void lock_all(struct mg_state *state)
{
    mg_with_lock_all(state, put);
}

static void request(struct mg_state *state)
{
    if (state->rank != 0)
        return;
    MG_RMA(MPI_Rput, state->send, state->bytes, 1, mg_place_received(state, 0, 1), state->rma->win,
           &state->requests[0]);
    mg_wait(&state->requests[0]);
}

static void fence(struct mg_state *state)
{
    mg_with_fence(state, put);
}

static void pscw(struct mg_state *state)
{
    mg_with_pscw(state, put);
}

static int to_target(const struct mg_state *state)
{
    return state->rank == 1 ? 0 : -1;
}

const struct mg_pattern mg_put = {
    .name         = "put",
    .about        = "rank 0 writes into the memory of rank 1 with MPI_Put",
    .time_of      = "one put and its synchronisation on rank 0; rank 1 waits in MPI",
    .family       = MG_ONE_SIDED,
    .sampling     = &mg_sampling_chained,
    .min_ranks    = 2,
    .active_ranks = 2,
    .trips        = 1,
    .moves_bytes  = true,
    .one_sided    = true,
    .wire         = MG_ONE_MESSAGE,
    .modes        = MG_MODES({.name       = "flush",
                              .about      = "MPI_Put, MPI_Win_flush: completed at the target",
                              .begin      = mg_epoch_begin,
                              .call       = flush,
                              .finish     = mg_epoch_finish,
                              .source     = to_target,
                              .directions = 1},
                             {.name       = "flush_local",
                              .about      = "MPI_Put, MPI_Win_flush_local: the buffer is free",
                              .begin      = mg_epoch_begin,
                              .call       = flush_local,
                              .finish     = mg_epoch_finish,
                              .source     = to_target,
                              .directions = 1},
                             {.name       = "lock",
                              .about      = "MPI_Win_lock (shared), MPI_Put, MPI_Win_unlock",
                              .call       = lock,
                              .source     = to_target,
                              .directions = 1,
                              .instead_of = "flush"},
                             {.name       = "lock_exclusive",
                              .about      = "MPI_Win_lock (exclusive), MPI_Put, MPI_Win_unlock",
                              .call       = lock_exclusive,
                              .source     = to_target,
                              .directions = 1},
                             {.name       = "lock_all",
                              .about      = "MPI_Win_lock_all, MPI_Put, MPI_Win_unlock_all",
                              .call       = lock_all,
                              .source     = to_target,
                              .directions = 1},
                             {.name       = "request",
                              .about      = "MPI_Rput, MPI_Wait: the buffer is free",
                              .begin      = mg_epoch_begin,
                              .call       = request,
                              .finish     = mg_epoch_finish,
                              .source     = to_target,
                              .directions = 1},
                             {.name       = "fence",
                              .about      = "MPI_Win_fence, MPI_Put, MPI_Win_fence on both ranks",
                              .call       = fence,
                              .finish     = mg_fence_finish,
                              .source     = to_target,
                              .directions = 1},
                             {.name       = "pscw",
                              .about      = "MPI_Win_start, MPI_Put, MPI_Win_complete; MPI_Win_post, "
                                            "MPI_Win_wait; there and back",
                              .call       = pscw,
                              .source     = mg_partner,
                              .directions = 1,
                              .trips      = 2}),
};
