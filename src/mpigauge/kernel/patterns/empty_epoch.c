/* empty_epoch - synchronisation of one-sided operations, without any: what it costs by itself. */
#include "patterns/rma.h"
#include "rounds/sampling.h"

static void nothing(struct mg_state *state, int rank)
{
    (void) state;
    (void) rank;
}

MG_RMA_CALL(fence, nothing)
MG_RMA_CALL(pscw, nothing)
MG_RMA_CALL(lock, nothing)
MG_RMA_CALL(lock_all, nothing)

const struct mg_pattern mg_empty_epoch = {
    .name         = "empty-epoch",
    .about        = "synchronisation of one-sided operations, without an operation",
    .time_of      = "opening and closing one epoch on rank 0; rank 1 waits in MPI",
    .family       = MG_ONE_SIDED,
    .sampling     = &mg_sampling_chained,
    .min_ranks    = 2,
    .active_ranks = 2,
    .trips        = 1,
    .one_sided    = true,
    .modes        = MG_MODES({.name       = "fence",
                              .about      = "MPI_Win_fence twice on both ranks",
                              .time_of    = "two fences without an operation; both ranks take part",
                              .call       = fence,
                              .finish     = mg_fence_finish,
                              .directions = 1},
                             {.name       = "pscw",
                              .about      = "MPI_Win_start, MPI_Win_complete; MPI_Win_post, "
                                            "MPI_Win_wait; there and back",
                              .time_of    = "one epoch of each rank in turn: half of both",
                              .call       = pscw,
                              .directions = 1,
                              .trips      = 2},
                             {.name         = "lock",
                              .about        = "MPI_Win_lock (shared), MPI_Win_unlock",
                              .call         = lock,
                              .target_waits = true,
                              .directions   = 1},
                             {.name         = "lock_all",
                              .about        = "MPI_Win_lock_all, MPI_Win_unlock_all",
                              .call         = lock_all,
                              .target_waits = true,
                              .directions   = 1}),
};
