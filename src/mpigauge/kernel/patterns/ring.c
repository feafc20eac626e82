/* ring - a token: rank 0 sends to 1, 1 to 2, the last back to 0.  Rank 0 has it again after each
 * lap, so laps can be timed one by one. */
#include "patterns/calls.h"
#include "rounds/sampling.h"

static int left(const struct mg_state *state)
{
    return (state->rank + state->ranks - 1) % state->ranks;
}

static void call(struct mg_state *state)
{
    const int right = (state->rank + 1) % state->ranks;

    if (state->rank == 0) {
        mg_send(state, right);
        mg_recv(state, left(state));
    } else {
        mg_recv(state, left(state));
        mg_send(state, right);
    }
}

const struct mg_pattern mg_ring = {
    .name        = "ring",
    .about       = "a token around all ranks, one after the other",
    .time_of     = "one lap, as many messages as ranks; the rate is the size over the lap",
    .family      = MG_MESSAGE,
    .sampling    = &mg_sampling_chained,
    .min_ranks   = 2,
    .trips       = 1,
    .moves_bytes = true,
    .wire        = MG_ONE_EACH,
    .modes       = MG_MODES({.name       = "standard",
                             .about      = "MPI_Send, MPI_Recv",
                             .call       = call,
                             .source     = left,
                             .directions = 1}),
};
