/* progress - rank 0 works on the memory of rank 1, which computes meanwhile and does not enter MPI.
 *
 * Whether the operation waits for the target is seen from its time: either it takes what it does
 * while the target waits in MPI, or about as long as the target still computes. */
#include "machine/compute.h"
#include "patterns/atomics.h"
#include "rounds/sampling.h"

enum { HEAD_START = 5 /* of its computation, the target has done one part before rank 0 begins */ };

/* Rank 0 hears that the target is there before it gives it a head start: on a busy machine the
 * target may get its processor late. */
static void prepare(struct mg_state *state)
{
    if (state->rank == 0) {
        mg_signal(state, 1);
        mg_await(state, 1);
        mg_work(state->work / HEAD_START);
    } else {
        mg_await(state, 0);
        mg_signal(state, 0);
    }
}

static void put_bytes(struct mg_state *state, int rank)
{
    mg_put_bytes(state, 0, rank);
}

static void while_target_computes(struct mg_state *state, mg_rma_fn operate)
{
    if (state->rank == 1)
        mg_work(state->work);
    else
        mg_with_flush(state, operate);
}

static void put(struct mg_state *state)
{
    while_target_computes(state, put_bytes);
}

static void get_bytes(struct mg_state *state, int rank)
{
    MG_RMA(MPI_Get, state->scratch, state->bytes, rank, mg_place_received(state, 0, rank),
           state->rma->win);
}

static void get(struct mg_state *state)
{
    while_target_computes(state, get_bytes);
}

static void begin_fetch(struct mg_state *state)
{
    mg_fetch_begin(state);
    mg_epoch_begin(state);
}

static void fetch_and_op(struct mg_state *state)
{
    while_target_computes(state, mg_fetch_and_add);
}

const struct mg_pattern mg_progress = {
    .name         = "progress",
    .about        = "rank 0 works on the memory of rank 1 while that computes",
    .time_of      = "one operation and MPI_Win_flush on rank 0; rank 1 computes, outside MPI",
    .family       = MG_ONE_SIDED,
    .sampling     = &mg_sampling_prepared,
    .min_ranks    = 2,
    .active_ranks = 2,
    .trips        = 1,
    .moves_bytes  = true,
    .unit_bytes   = MG_WORD_MAX,
    .one_sided    = true,
    .wire         = MG_ONE_MESSAGE,
    .prepare      = prepare,
    .modes        = MG_MODES({.name            = "put",
                              .about           = "MPI_Put, MPI_Win_flush",
                              .begin           = mg_epoch_begin,
                              .call            = put,
                              .finish          = mg_epoch_finish,
                              .source          = mg_zero_to_one,
                              .directions      = 1,
                              .binds_buffers   = true,
                              .target_computes = true},
                             {.name            = "get",
                              .about           = "MPI_Get, MPI_Win_flush",
                              .begin           = mg_epoch_begin,
                              .call            = get,
                              .finish          = mg_epoch_finish,
                              .directions      = 1,
                              .binds_buffers   = true,
                              .target_computes = true,
                              .scratch         = MG_ONE_MESSAGE},
                             {.name            = "fetch_and_op",
                              .about           = "MPI_Fetch_and_op, MPI_Win_flush",
                              .begin           = begin_fetch,
                              .call            = fetch_and_op,
                              .finish          = mg_epoch_finish,
                              .directions      = 1,
                              .binds_buffers   = true,
                              .target_computes = true,
                              MG_WORD_ROOM}),
};
