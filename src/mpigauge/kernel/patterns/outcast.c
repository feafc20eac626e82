/* outcast - one rank sends to all others at the same time. */
#include "patterns/calls.h"
#include "rounds/sampling.h"

static int from_root(const struct mg_state *state)
{
    return state->rank == state->root ? -1 : state->root;
}

/* In turn to every receiver. */
static void send_to_others(struct mg_state *state)
{
    MPI_Request *request = state->requests;

    for (int i = 0; i < state->window; i++)
        for (int to = 0; to < state->ranks; to++)
            if (to != state->root)
                mg_isend(state, i, to, request++);
    MG_MPI(MPI_Waitall(state->window * (state->ranks - 1), state->requests, MPI_STATUSES_IGNORE));
}

static void await_others(const struct mg_state *state)
{
    for (int rank = 0; rank < state->ranks; rank++)
        if (rank != state->root)
            mg_await(state, rank);
}

static void stream(struct mg_state *state)
{
    if (state->rank == state->root) {
        send_to_others(state);
        await_others(state);
    } else {
        for (int i = 0; i < state->window; i++)
            mg_irecv(state, i, state->root, &state->requests[i]);
        MG_MPI(MPI_Waitall(state->window, state->requests, MPI_STATUSES_IGNORE));
        mg_signal(state, state->root);
    }
}

static void one(struct mg_state *state)
{
    if (state->rank == state->root)
        send_to_others(state);
    else
        mg_recv(state, state->root);
}

const struct mg_pattern mg_outcast = {
    .name        = "outcast",
    .about       = "one rank sends a window of messages to each of the others at once",
    .time_of     = "until the last receiver is done, per message to all receivers",
    .family      = MG_MESSAGE,
    .sampling    = &mg_sampling_common_blocks,
    .min_ranks   = 2,
    .trips       = MG_TRIPS_OTHERS,
    .senders     = MG_SENDERS_AND_ONE,
    .windowed    = true,
    .moves_bytes = true,
    .rooted      = true,
    .rank_times  = true,
    .one_pair    = "stream",
    .wire        = MG_ONE_MESSAGE,
    .modes       = MG_MODES({.name       = "stream",
                             .about      = "MPI_Isend and MPI_Irecv of a window, then acknowledgements",
                             .call       = stream,
                             .source     = from_root,
                             .directions = 1},
                            {.name        = "one",
                             .about       = "one MPI_Isend to each rank, no acknowledgement",
                             .call        = one,
                             .source      = from_root,
                             .directions  = 1,
                             .one_message = true,
                             .alone       = true}),
};
