/* multi_stream - all pairs stream at once: their bandwidth and message rate together. */
#include "patterns/calls.h"
#include "patterns/halves.h"
#include "rounds/sampling.h"

static int from_sender(const struct mg_state *state)
{
    return mg_in_first_half(state) ? -1 : mg_from_partner(state);
}

static void unidirectional(struct mg_state *state)
{
    const int peer = mg_partner(state);

    if (mg_rests(state))
        return;
    if (mg_in_first_half(state)) {
        for (int i = 0; i < state->window; i++)
            mg_isend(state, i, peer, &state->requests[i]);
        MG_MPI(MPI_Waitall(state->window, state->requests, MPI_STATUSES_IGNORE));
        mg_await(state, peer);
    } else {
        for (int i = 0; i < state->window; i++)
            mg_irecv(state, i, peer, &state->requests[i]);
        MG_MPI(MPI_Waitall(state->window, state->requests, MPI_STATUSES_IGNORE));
        mg_signal(state, peer);
    }
}

static void bidirectional(struct mg_state *state)
{
    const int peer = mg_partner(state);

    if (mg_rests(state))
        return;
    for (int i = 0; i < state->window; i++)
        mg_irecv(state, i, peer, &state->requests[i]);
    for (int i = 0; i < state->window; i++)
        mg_isend(state, i, peer, &state->requests[state->window + i]);
    MG_MPI(MPI_Waitall(2 * state->window, state->requests, MPI_STATUSES_IGNORE));
    if (mg_in_first_half(state))
        mg_await(state, peer);
    else
        mg_signal(state, peer);
}

const struct mg_pattern mg_multi_stream = {
    .name        = "multi-stream",
    .about       = "rank i sends a window of messages to rank i + p/2, all such pairs at once",
    .time_of     = "until the last pair is done, per message of all pairs",
    .family      = MG_MESSAGE,
    .sampling    = &mg_sampling_common_blocks,
    .min_ranks   = 2,
    .senders     = MG_SENDERS_OF_PAIRS,
    .trips       = MG_TRIPS_PAIRS,
    .windowed    = true,
    .moves_bytes = true,
    .rank_times  = true,
    .one_pair    = "stream",
    .wire        = MG_ONE_MESSAGE,
    .modes       = MG_MODES({.name       = "unidirectional",
                             .about      = "the first half of the ranks sends, the other receives",
                             .call       = unidirectional,
                             .source     = from_sender,
                             .directions = 1},
                            {.name       = "bidirectional",
                             .about      = "both ranks of a pair send and receive a window",
                             .call       = bidirectional,
                             .source     = mg_from_partner,
                             .directions = 2}),
};
