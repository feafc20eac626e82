/* put - rank 0 writes into the memory of rank 1, which does nothing for it unless it has to. */
#include "patterns/rma.h"
#include "rounds/sampling.h"

static void put(struct mg_state *state, int rank)
{
    mg_put_bytes(state, 0, rank);
}

MG_RMA_CALL(flush, put)
MG_RMA_CALL(flush_local, put)
MG_RMA_CALL(lock, put)
MG_RMA_CALL(lock_exclusive, put)
MG_RMA_CALL(lock_all, put)
MG_RMA_CALL(fence, put)
MG_RMA_CALL(pscw, put)

static void request(struct mg_state *state)
{
    if (state->rank != 0)
        return;
    MG_RMA(MPI_Rput, state->send, state->bytes, 1, mg_place_received(state, 0, 1), state->rma->win,
           &state->requests[0]);
    mg_wait(&state->requests[0]);
}

const struct mg_pattern mg_put = {
    .name  = "put",
    .about = "rank 0 writes into the memory of rank 1 with MPI_Put",
    MG_ONE_OPERATION,
    .modes =
        MG_MODES(MG_FLUSH("MPI_Put", ": completed at the target", mg_epoch_begin, MG_TO_TARGET),
                 MG_FLUSH_LOCAL("MPI_Put", ": the buffer is free", MG_TO_TARGET),
                 MG_LOCK("MPI_Put", NULL, MG_TO_TARGET), MG_LOCK_EXCLUSIVE("MPI_Put", MG_TO_TARGET),
                 MG_LOCK_ALL("MPI_Put", MG_TO_TARGET),
                 MG_REQUEST("MPI_Rput", ": the buffer is free", MG_TO_TARGET),
                 MG_FENCE("MPI_Put", MG_OF_FENCES, MG_TO_TARGET), MG_PSCW("MPI_Put")),
};
