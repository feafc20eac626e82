/* put_window - rank 0 writes a window of messages into the memory of rank 1, then synchronises
 * once. */
#include "patterns/rma.h"
#include "rounds/sampling.h"

static void put_all(struct mg_state *state, int rank)
{
    for (int i = 0; i < state->window; i++)
        mg_put_bytes(state, i, rank);
}

static void flush(struct mg_state *state)
{
    mg_with_flush(state, put_all);
}

static void fence(struct mg_state *state)
{
    mg_with_fence(state, put_all);
}

static int to_target(const struct mg_state *state)
{
    return state->rank == 1 ? 0 : -1;
}

const struct mg_pattern mg_put_window = {
    .name  = "put-window",
    .about = "rank 0 writes a window of messages into the memory of rank 1, and synchronises once",
    .time_of      = "per put of a window; its synchronisation is shared out",
    .family       = MG_ONE_SIDED,
    .sampling     = &mg_sampling_blocks,
    .min_ranks    = 2,
    .active_ranks = 2,
    .windowed     = true,
    .moves_bytes  = true,
    .one_sided    = true,
    .wire         = MG_ONE_MESSAGE,
    .modes        = MG_MODES({.name       = "flush",
                              .about      = "MPI_Put of all, MPI_Win_flush",
                              .begin      = mg_epoch_begin,
                              .call       = flush,
                              .finish     = mg_epoch_finish,
                              .source     = to_target,
                              .directions = 1},
                             {.name       = "fence",
                              .about      = "MPI_Win_fence, MPI_Put of all, MPI_Win_fence on both ranks",
                              .call       = fence,
                              .finish     = mg_fence_finish,
                              .source     = to_target,
                              .directions = 1}),
};
