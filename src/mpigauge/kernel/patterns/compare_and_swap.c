/* compare_and_swap - rank 0 replaces a word of rank 1, if it holds what it is said to. */
#include "patterns/atomics.h"
#include "rounds/sampling.h"

static void begin(struct mg_state *state)
{
    mg_swap_begin(state);
    mg_epoch_begin(state);
}

static void begin_locked(struct mg_state *state)
{
    mg_swap_begin(state);
}

static void flush(struct mg_state *state)
{
    mg_with_flush(state, mg_swap);
    if (state->rank == 0)
        mg_swap_next(state);
}

static void lock(struct mg_state *state)
{
    mg_with_lock(state, mg_swap, MPI_LOCK_SHARED);
    if (state->rank == 0)
        mg_swap_next(state);
}

static bool check(const struct mg_state *state, char *error, size_t error_bytes)
{
    return mg_swap_check(state, 0, 1, 1, error, error_bytes);
}

const struct mg_pattern mg_compare_and_swap = {
    .name         = "compare_and_swap",
    .about        = "rank 0 replaces a word of rank 1 with MPI_Compare_and_swap",
    .time_of      = "one operation and its synchronisation on rank 0; rank 1 waits in MPI",
    .family       = MG_ONE_SIDED,
    .sampling     = &mg_sampling_chained,
    .min_ranks    = 2,
    .active_ranks = 2,
    .trips        = 1,
    .moves_bytes  = true,
    .unit_bytes   = MG_WORD_MIN,
    .one_sided    = true,
    .wire         = MG_ONE_MESSAGE,
    .check        = check,
    .modes = MG_MODES({.name       = "flush",
                       .about      = "MPI_Compare_and_swap, MPI_Win_flush",
                       .begin      = begin,
                       .call       = flush,
                       .finish     = mg_epoch_finish,
                       .directions = 1,
                       MG_WORD_ROOM},
                      {.name       = "lock",
                       .about      = "MPI_Win_lock (shared), MPI_Compare_and_swap, MPI_Win_unlock",
                       .begin      = begin_locked,
                       .call       = lock,
                       .directions = 1,
                       .instead_of = "flush",
                       MG_WORD_ROOM}),
};
