/* barrier - nobody leaves before everybody has come. */
#include "patterns/collective.h"
#include "rounds/sampling.h"

#define ARGUMENTS state->comm

MG_COLLECTIVE(Barrier, Ibarrier)

const struct mg_pattern mg_barrier = {
    .name         = "barrier",
    .about        = "all ranks wait for each other",
    .time_of      = "from the first start to the last end",
    .family       = MG_COLLECTIVE,
    .sampling     = &mg_sampling_common,
    .min_ranks    = 1,
    .trips        = 1,
    .synchronises = true,
    .modes        = MG_COLLECTIVE_MODES(Barrier, Ibarrier),
};
