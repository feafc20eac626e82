/* progress - rank 0 works on the memory of rank 1, which computes meanwhile and does not enter MPI.
 *
 * Whether the operation waits for the target is seen from its time: either it takes what it does
 * while the target waits in MPI, or about as long as the target still computes. */
#include "machine/compute.h"
#include "patterns/atomics.h"
#include "ranks/groups.h"
#include "rounds/sampling.h"

#include <stdio.h>

/* What the mode of the visit checks beside the content of the target; or NULL. */
static bool (*own_check)(const struct mg_state *state, char *error, size_t error_bytes);

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

static void begin_put(struct mg_state *state)
{
    own_check = NULL;
    mg_epoch_begin(state);
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

/* What the target holds at a place: different from its neighbours, and from what is there else. */
static unsigned char held_at(size_t at)
{
    return (unsigned char) (7 * at + 1);
}

static bool check_got(const struct mg_state *state, char *error, size_t error_bytes)
{
    size_t at = 0;

    while (at < state->bytes && state->scratch[at] == held_at(at))
        at++;
    if (state->rank != 0 || at == state->bytes)
        return true;
    (void) snprintf(error, error_bytes,
                    "rank 0 got 0x%02x at byte %zu, and the target holds 0x%02x",
                    state->scratch[at], at, held_at(at));
    return false;
}

static void begin_get(struct mg_state *state)
{
    own_check = check_got;
    for (size_t at = 0; at < state->bytes && state->rank == 1; at++)
        state->recv[at] = held_at(at);
    memset(state->scratch, MG_POISON, state->bytes);
    mg_window_settle(state);
    mg_handshake(state->comm); /* rank 0 locks it for the whole series */
    mg_epoch_begin(state);
}

static void get(struct mg_state *state)
{
    while_target_computes(state, get_bytes);
}

static bool check_fetched(const struct mg_state *state, char *error, size_t error_bytes)
{
    return mg_fetch_check(state, 0, 1, 1, error, error_bytes);
}

static void begin_fetch(struct mg_state *state)
{
    own_check = check_fetched;
    mg_fetch_begin(state);
    mg_epoch_begin(state);
}

static void fetch_and_op(struct mg_state *state)
{
    while_target_computes(state, mg_fetch_and_add);
}

static bool check(const struct mg_state *state, char *error, size_t error_bytes)
{
    return own_check == NULL || own_check(state, error, error_bytes);
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
    .check        = check,
    .modes        = MG_MODES({.name            = "put",
                              .about           = "MPI_Put, MPI_Win_flush",
                              .begin           = begin_put,
                              .call            = put,
                              .finish          = mg_epoch_finish,
                              .source          = mg_zero_to_one,
                              .directions      = 1,
                              .binds_buffers   = true,
                              .target_computes = true},
                             {.name            = "get",
                              .about           = "MPI_Get, MPI_Win_flush",
                              .begin           = begin_get,
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
