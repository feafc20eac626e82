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

/* Whether the word stays as it is if it does not hold what it is compared with.  Collective. */
static bool keeps_another(const struct mg_state *state)
{
    struct mg_state      own   = *state;
    const bool           acts  = state->rank == 0;
    const unsigned char *place = acts ? mg_comparison(state) : state->recv;
    const uint64_t       held  = mg_word_at(state, place);

    if (acts)
        mg_word_set(state, mg_comparison(state), held + 1);
    mg_handshake(state->comm); /* rank 1 has read its word */
    mg_with_lock(&own, mg_swap);
    mg_handshake(state->comm);
    mg_window_settle(state);
    return mg_word_at(state, acts ? mg_result(state) : state->recv) == held;
}

static bool check(const struct mg_state *state, char *error, size_t error_bytes)
{
    const bool swapped = mg_swap_check(state, 0, 1, 1, error, error_bytes);
    const bool kept    = keeps_another(state);

    if (swapped && !kept)
        (void) snprintf(error, error_bytes,
                        "rank %d: a word that held another value than it was compared with was "
                        "replaced, or not returned",
                        state->rank);
    return swapped && kept;
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
