/* barrier - nobody leaves before everybody has come. */
#include "collective.h"

#define ARGUMENTS state->comm

MG_COLLECTIVE(Barrier, Ibarrier)

const struct mg_pattern mg_barrier = {
    .name         = "barrier",
    .about        = "all ranks wait for each other",
    .time_of      = "from the first start to the last end",
    .sampling     = MG_COMMON,
    .min_ranks    = 1,
    .trips        = 1,
    .synchronises = true,
    .modes        = MG_MODES(Barrier, Ibarrier),
};
