/* shift - every rank sends to its right and receives from its left, all at once. */
#include "patterns/calls.h"
#include "rounds/sampling.h"

static int left(const struct mg_state *state)
{
    return (state->rank + state->ranks - 1) % state->ranks;
}

static int right(const struct mg_state *state)
{
    return (state->rank + 1) % state->ranks;
}

static void sendrecv(struct mg_state *state)
{
    mg_sendrecv(state, right(state), left(state));
}

static void nonblocking(struct mg_state *state)
{
    mg_irecv(state, 0, left(state), &state->requests[0]);
    mg_isend(state, 0, right(state), &state->requests[1]);
    MG_MPI(MPI_Waitall(2, state->requests, MPI_STATUSES_IGNORE));
}

const struct mg_pattern mg_shift = {
    .name        = "shift",
    .about       = "all ranks send to the right and receive from the left at once",
    .time_of     = "one shift: one message out and one in at every rank",
    .family      = MG_MESSAGE,
    .sampling    = &mg_sampling_blocks,
    .min_ranks   = 2,
    .trips       = 1,
    .moves_bytes = true,
    .wire        = MG_ONE_OF_BOTH,
    .modes       = MG_MODES({.name       = "sendrecv",
                             .about      = "MPI_Sendrecv",
                             .call       = sendrecv,
                             .source     = left,
                             .directions = 2},
                            {.name       = "nonblocking",
                             .about      = "MPI_Irecv, MPI_Isend, MPI_Waitall",
                             .call       = nonblocking,
                             .source     = left,
                             .directions = 2}),
};
