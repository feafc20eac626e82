/* get - rank 0 reads the memory of rank 1, which does nothing for it unless it has to. */
#include "patterns/rma.h"
#include "rounds/sampling.h"

static void get(struct mg_state *state, int rank)
{
    mg_get_bytes(state, 0, rank);
}

static void flush(struct mg_state *state)
{
    mg_with_flush(state, get);
}

static void flush_local(struct mg_state *state)
{
    mg_with_flush_local(state, get);
}

static void lock(struct mg_state *state)
{
    mg_with_lock(state, get, MPI_LOCK_SHARED);
}

static void lock_exclusive(struct mg_state *state)
{
    mg_with_lock(state, get, MPI_LOCK_EXCLUSIVE);
}

static void lock_all(struct mg_state *state)
{
    mg_with_lock_all(state, get);
}

static void request(struct mg_state *state)
{
    if (state->rank != 0)
        return;
    MG_RMA(MPI_Rget, state->recv, state->bytes, 1, mg_place_sent(state, 0, 1), state->rma->win,
           &state->requests[0]);
    mg_wait(&state->requests[0]);
}

static void fence(struct mg_state *state)
{
    mg_with_fence(state, get);
}

static void pscw(struct mg_state *state)
{
    mg_with_pscw(state, get);
}

static int from_target(const struct mg_state *state)
{
    return state->rank == 0 ? 1 : -1;
}

const struct mg_pattern mg_get = {
    .name         = "get",
    .about        = "rank 0 reads the memory of rank 1 with MPI_Get",
    .time_of      = "one get and its synchronisation on rank 0; rank 1 waits in MPI",
    .family       = MG_ONE_SIDED,
    .sampling     = &mg_sampling_chained,
    .min_ranks    = 2,
    .active_ranks = 2,
    .trips        = 1,
    .moves_bytes  = true,
    .one_sided    = true,
    .exposes_send = true,
    .wire         = MG_ONE_MESSAGE,
    .modes        = MG_MODES({.name       = "flush",
                              .about      = "MPI_Get, MPI_Win_flush: the data are here",
                              .begin      = mg_epoch_begin,
                              .call       = flush,
                              .finish     = mg_epoch_finish,
                              .source     = from_target,
                              .directions = 1},
                             {.name       = "flush_local",
                              .about      = "MPI_Get, MPI_Win_flush_local: the data are here",
                              .begin      = mg_epoch_begin,
                              .call       = flush_local,
                              .finish     = mg_epoch_finish,
                              .source     = from_target,
                              .directions = 1},
                             {.name       = "lock",
                              .about      = "MPI_Win_lock (shared), MPI_Get, MPI_Win_unlock",
                              .call       = lock,
                              .source     = from_target,
                              .directions = 1,
                              .instead_of = "flush"},
                             {.name       = "lock_exclusive",
                              .about      = "MPI_Win_lock (exclusive), MPI_Get, MPI_Win_unlock",
                              .call       = lock_exclusive,
                              .source     = from_target,
                              .directions = 1},
                             {.name       = "lock_all",
                              .about      = "MPI_Win_lock_all, MPI_Get, MPI_Win_unlock_all",
                              .call       = lock_all,
                              .source     = from_target,
                              .directions = 1},
                             {.name       = "request",
                              .about      = "MPI_Rget, MPI_Wait: the data are here",
                              .begin      = mg_epoch_begin,
                              .call       = request,
                              .finish     = mg_epoch_finish,
                              .source     = from_target,
                              .directions = 1},
                             {.name       = "fence",
                              .about      = "MPI_Win_fence, MPI_Get, MPI_Win_fence on both ranks",
                              .call       = fence,
                              .finish     = mg_fence_finish,
                              .source     = from_target,
                              .directions = 1},
                             {.name       = "pscw",
                              .about      = "MPI_Win_start, MPI_Get, MPI_Win_complete; MPI_Win_post, "
                                            "MPI_Win_wait; there and back",
                              .call       = pscw,
                              .source     = mg_partner,
                              .directions = 1,
                              .trips      = 2}),
};
