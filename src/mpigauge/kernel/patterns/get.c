/* get - rank 0 reads the memory of rank 1, which does nothing for it unless it has to. */
#include "patterns/rma.h"
#include "rounds/sampling.h"

static void get(struct mg_state *state, int rank)
{
    mg_get_bytes(state, 0, rank);
}

MG_RMA_CALL(flush, get)
MG_RMA_CALL(flush_local, get)
MG_RMA_CALL(lock, get)
MG_RMA_CALL(lock_exclusive, get)
MG_RMA_CALL(lock_all, get)
MG_RMA_CALL(fence, get)
MG_RMA_CALL(pscw, get)

static void request(struct mg_state *state)
{
    if (state->rank != 0)
        return;
    MG_RMA(MPI_Rget, state->recv, state->bytes, 1, mg_place_sent(state, 0, 1), state->rma->win,
           &state->requests[0]);
    mg_wait(&state->requests[0]);
}

const struct mg_pattern mg_get = {
    .name  = "get",
    .about = "rank 0 reads the memory of rank 1 with MPI_Get",
    MG_ONE_OPERATION,
    .exposes_send = true,
    .modes = MG_MODES(MG_FLUSH("MPI_Get", ": the data are here", mg_epoch_begin, MG_FROM_TARGET),
                      MG_FLUSH_LOCAL("MPI_Get", ": the data are here", MG_FROM_TARGET),
                      MG_LOCK("MPI_Get", NULL, MG_FROM_TARGET),
                      MG_LOCK_EXCLUSIVE("MPI_Get", MG_FROM_TARGET),
                      MG_LOCK_ALL("MPI_Get", MG_FROM_TARGET),
                      MG_REQUEST("MPI_Rget", ": the data are here", MG_FROM_TARGET),
                      MG_FENCE("MPI_Get", MG_OF_FENCES, MG_FROM_TARGET), MG_PSCW("MPI_Get")),
};
