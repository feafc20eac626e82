/* put_window - rank 0 writes a window of messages into the memory of rank 1, then synchronises
 * once. */
#include "patterns/rma.h"
#include "rounds/sampling.h"

static void put_all(struct mg_state *state, int rank)
{
    for (int i = 0; i < state->window; i++)
        mg_put_bytes(state, i, rank);
}

MG_RMA_CALL(flush, put_all)
MG_RMA_CALL(fence, put_all)

const struct mg_pattern mg_put_window = {
    .name  = "put-window",
    .about = "rank 0 writes a window of messages into the memory of rank 1, and synchronises once",
    .time_of  = "per put of a window; its synchronisation is shared out",
    .sampling = &mg_sampling_blocks,
    MG_ON_TARGET,
    .windowed = true,
    .modes    = MG_MODES(MG_FLUSH("MPI_Put of all", "", mg_epoch_begin, MG_TO_TARGET),
                         MG_FENCE("MPI_Put of all", MG_TO_TARGET)),
};
