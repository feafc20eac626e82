/* cacheline - ranks 0 and 1 hand a word in shared memory to each other: no message can be faster.
 */
#include "patterns/handover.h"
#include "rounds/sampling.h"

enum { THERE = 3, BACK = 4 }; /* values that crosscopy.c does not use */

static void call(struct mg_state *state)
{
    if (state->rank == 0) {
        mg_hand_over(state, THERE);
        mg_wait_for(state, BACK);
    } else {
        mg_wait_for(state, THERE);
        mg_hand_over(state, BACK);
    }
}

const struct mg_pattern mg_cacheline = {
    .name          = "cacheline",
    .about         = "ranks 0 and 1 hand one cache line of shared memory to each other",
    .time_of       = "one way: half a round trip",
    .family        = MG_MEMORY,
    .sampling      = &mg_sampling_chained,
    .min_ranks     = 2,
    .active_ranks  = 2,
    .trips         = 2,
    .shares_memory = true,
    .one_way       = true,
    .modes         = MG_MODES({.name       = "standard",
                               .about      = "a store, and loads until it is seen",
                               .call       = call,
                               .directions = 1}),
};
