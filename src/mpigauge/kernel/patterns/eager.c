/* eager - the largest message that completes although it is not received: probe/eager_probe.c. */
#include "patterns/pattern.h"
#include "rounds/sampling.h"

const struct mg_pattern mg_eager = {
    .name         = "eager",
    .about        = "the eager limit: the largest message that completes before it is received",
    .time_of      = "nothing: it finds a limit in bytes",
    .family       = MG_PROBE,
    .sampling     = &mg_sampling_probe,
    .min_ranks    = 2,
    .active_ranks = 2,
    .modes        = MG_MODES({.name       = "standard",
                              .about      = "MPI_Isend polled on both sides, MPI_Issend as control",
                              .directions = 2}),
};
