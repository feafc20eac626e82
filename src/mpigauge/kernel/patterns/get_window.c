/* get_window - rank 0 reads a window of messages from the memory of rank 1, then synchronises
 * once. */
#include "patterns/rma.h"
#include "rounds/sampling.h"

static void get_all(struct mg_state *state, int rank)
{
    for (int i = 0; i < state->window; i++)
        mg_get_bytes(state, i, rank);
}

MG_RMA_CALL(flush, get_all)
MG_RMA_CALL(fence, get_all)

const struct mg_pattern mg_get_window = {
    .name    = "get-window",
    .about   = "rank 0 reads a window of messages from the memory of rank 1, and synchronises once",
    .time_of = "per get of a window; its synchronisation is shared out",
    .sampling = &mg_sampling_blocks,
    MG_ON_TARGET,
    .windowed     = true,
    .exposes_send = true,
    .modes        = MG_MODES(MG_FLUSH("MPI_Get of all", "", mg_epoch_begin, MG_FROM_TARGET),
                             MG_FENCE("MPI_Get of all", MG_FROM_TARGET)),
};
