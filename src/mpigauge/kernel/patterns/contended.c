/* contended - all ranks work on one word of rank 0 at the same time.  It is the same word in every
 * call: ranks that walk through cold memory may be at different places of it. */
#include "patterns/atomics.h"
#include "rounds/sampling.h"

static void begin_fetch(struct mg_state *state)
{
    mg_fetch_begin(state);
    mg_epoch_of_all_begin(state);
}

static void begin_swap(struct mg_state *state)
{
    mg_swap_begin(state);
    mg_epoch_of_all_begin(state);
}

static void fetch_and_op(struct mg_state *state)
{
    mg_fetch_and_add(state, 0);
    MG_MPI(MPI_Win_flush(0, state->rma->win));
}

static void compare_and_swap(struct mg_state *state)
{
    mg_swap(state, 0);
    MG_MPI(MPI_Win_flush(0, state->rma->win));
    mg_swap_next(state);
}

static bool check(const struct mg_state *state, char *error, size_t error_bytes)
{
    return state->mode->call == compare_and_swap
               ? mg_swap_check(state, 0, state->ranks, 0, error, error_bytes)
               : mg_fetch_check(state, 0, state->ranks, 0, error, error_bytes);
}

const struct mg_pattern mg_contended = {
    .name        = "contended",
    .about       = "all ranks work on one word of rank 0 at the same time",
    .time_of     = "one operation of every rank, from the first start to the last end",
    .family      = MG_ONE_SIDED,
    .sampling    = &mg_sampling_common,
    .min_ranks   = 2,
    .trips       = 1,
    .moves_bytes = true,
    .unit_bytes  = MG_WORD_MIN,
    .one_sided   = true,
    .wire        = MG_TO_OTHERS,
    .check       = check,
    .modes       = MG_MODES({.name          = "fetch_and_op",
                             .about         = "MPI_Fetch_and_op, MPI_Win_flush",
                             .begin         = begin_fetch,
                             .call          = fetch_and_op,
                             .finish        = mg_epoch_of_all_finish,
                             .directions    = 1,
                             .binds_buffers = true,
                             .in_a_row      = true,
                             MG_WORD_ROOM},
                            {.name          = "compare_and_swap",
                             .about         = "MPI_Compare_and_swap, MPI_Win_flush",
                             .begin         = begin_swap,
                             .call          = compare_and_swap,
                             .finish        = mg_epoch_of_all_finish,
                             .directions    = 1,
                             .binds_buffers = true,
                             .in_a_row      = true,
                             MG_WORD_ROOM}),
};
