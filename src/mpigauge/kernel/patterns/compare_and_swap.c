/* compare_and_swap - rank 0 replaces a word of rank 1, if it holds what it is said to. */
#include "patterns/atomics.h"
#include "rounds/sampling.h"

static void begin(struct mg_state *state)
{
    mg_swap_begin(state);
    mg_epoch_begin(state);
}

static void flush(struct mg_state *state)
{
    mg_with_flush(state, mg_swap);
    if (state->rank == 0)
        mg_swap_next(state);
}

static void lock(struct mg_state *state)
{
    mg_with_lock(state, mg_swap);
    if (state->rank == 0)
        mg_swap_next(state);
}

static bool check(const struct mg_state *state, char *error, size_t error_bytes)
{
    return mg_swap_check(state, 0, 1, 1, error, error_bytes);
}

const struct mg_pattern mg_compare_and_swap = {
    .name  = "compare_and_swap",
    .about = "rank 0 replaces a word of rank 1 with MPI_Compare_and_swap",
    MG_ONE_OPERATION,
    .unit_bytes = MG_WORD_MIN,
    .check      = check,
    .modes =
        MG_MODES(MG_FLUSH("MPI_Compare_and_swap", "", begin, .directions = 1, MG_WORD_ROOM),
                 MG_LOCK("MPI_Compare_and_swap", mg_swap_begin, .directions = 1, MG_WORD_ROOM)),
};
