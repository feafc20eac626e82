/* null - an empty call: its time is the cost of a sample itself. */
#include "patterns/pattern.h"
#include "rounds/sampling.h"

static void call(struct mg_state *state)
{
    (void) state;
}

const struct mg_pattern mg_null = {
    .name         = "null",
    .about        = "nothing: the floor of the instrument itself",
    .time_of      = "one empty round, the clock reading included",
    .family       = MG_FLOOR,
    .sampling     = &mg_sampling_floor,
    .min_ranks    = 1,
    .active_ranks = 1,
    .trips        = 1,
    .modes =
        MG_MODES({.name = "standard", .about = "an empty call", .call = call, .directions = 1}),
};
