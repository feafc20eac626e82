/* barrier - no rank leaves before all have entered. */
#include "patterns/mockup.h"
#include "rounds/sampling.h"

#define ARGUMENTS state->comm

MG_COLLECTIVE(Barrier, Ibarrier)

static void allreduce(struct mg_state *state)
{
    int one = 1;
    int all = 0;

    MG_MPI(MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, state->comm));
}

const struct mg_pattern mg_barrier = {
    .name         = "barrier",
    .about        = "all ranks wait for each other",
    .time_of      = "from the first start to the last end",
    .family       = MG_COLLECTIVE,
    .sampling     = &mg_sampling_common,
    .min_ranks    = 1,
    .trips        = 1,
    .synchronises = true,
    .modes        = MG_MODES(MG_USUAL_MODES(Barrier, Ibarrier),
                             MG_MOCKUP("allreduce", "MPI_Allreduce of one int", allreduce)),
};
