/* stream - a window of non-blocking sends, then one acknowledgement: bandwidth and message rate. */
#include "patterns/calls.h"
#include "rounds/sampling.h"

static void unidirectional(struct mg_state *state)
{
    if (state->rank == 0) {
        for (int i = 0; i < state->window; i++)
            mg_isend(state, i, 1, &state->requests[i]);
        MG_MPI(MPI_Waitall(state->window, state->requests, MPI_STATUSES_IGNORE));
        mg_await(state, 1);
    } else {
        for (int i = 0; i < state->window; i++)
            mg_irecv(state, i, 0, &state->requests[i]);
        MG_MPI(MPI_Waitall(state->window, state->requests, MPI_STATUSES_IGNORE));
        mg_signal(state, 0);
    }
}

static void bidirectional(struct mg_state *state)
{
    const int peer = mg_other(state);

    for (int i = 0; i < state->window; i++)
        mg_irecv(state, i, peer, &state->requests[i]);
    for (int i = 0; i < state->window; i++)
        mg_isend(state, i, peer, &state->requests[state->window + i]);
    MG_MPI(MPI_Waitall(2 * state->window, state->requests, MPI_STATUSES_IGNORE));
    if (state->rank == 0)
        mg_await(state, 1);
    else
        mg_signal(state, 0);
}

const struct mg_pattern mg_stream = {
    .name         = "stream",
    .about        = "a window of non-blocking sends, then one acknowledgement",
    .time_of      = "per message of a window; its acknowledgement is shared out",
    .family       = MG_MESSAGE,
    .sampling     = &mg_sampling_blocks,
    .min_ranks    = 2,
    .active_ranks = 2,
    .windowed     = true,
    .moves_bytes  = true,
    .wire         = MG_ONE_MESSAGE,
    .modes        = MG_MODES({.name       = "unidirectional",
                              .about      = "rank 0 sends, rank 1 receives",
                              .call       = unidirectional,
                              .source     = mg_zero_to_one,
                              .directions = 1},
                             {.name       = "bidirectional",
                              .about      = "both ranks send and receive a window",
                              .call       = bidirectional,
                              .source     = mg_other,
                              .directions = 2}),
};
