/* multi_pingpong - a ping-pong in all pairs at once. */
#include "patterns/calls.h"
#include "patterns/halves.h"
#include "rounds/sampling.h"

static void standard(struct mg_state *state)
{
    const int peer = mg_partner(state);

    if (mg_rests(state))
        return;
    if (mg_in_first_half(state)) {
        mg_send(state, peer);
        mg_recv(state, peer);
    } else {
        mg_recv(state, peer);
        mg_send(state, peer);
    }
}

const struct mg_pattern mg_multi_pingpong = {
    .name      = "multi-pingpong",
    .about     = "rank i sends a message to rank i + p/2, which returns it, all such pairs at once",
    .time_of   = "half of a round trip, of the pair that is done last",
    .family    = MG_MESSAGE,
    .sampling  = &mg_sampling_common_blocks,
    .min_ranks = 2,
    .senders   = MG_SENDERS_OF_PAIRS,
    .trips     = 2,
    .moves_bytes = true,
    .rank_times  = true,
    .one_pair    = "pingpong",
    .wire        = MG_ONE_OF_BOTH,
    .modes       = MG_MODES({.name       = "standard",
                             .about      = "MPI_Send, MPI_Recv",
                             .call       = standard,
                             .source     = mg_from_partner,
                             .directions = 1}),
};
