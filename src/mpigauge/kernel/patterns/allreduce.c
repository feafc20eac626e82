/* allreduce - all get the reduction over all ranks. */
#include "patterns/collective.h"
#include "rounds/sampling.h"

#define ARGUMENTS mg_in(state), state->recv, state->count, state->datatype, state->op, state->comm

MG_COLLECTIVE(Allreduce, Iallreduce)

const struct mg_pattern mg_allreduce = {
    .name         = "allreduce",
    .about        = "all ranks get the reduction over all ranks",
    .time_of      = "from the first start to the last end",
    .family       = MG_COLLECTIVE,
    .sampling     = &mg_sampling_common,
    .min_ranks    = 1,
    .trips        = 1,
    .moves_bytes  = true,
    .reduces      = true,
    .may_in_place = true,
    .bus          = MG_BUS_TWICE,
    .wire         = MG_THERE_BACK,
    .piece        = mg_reduced_over_all,
    .modes        = MG_COLLECTIVE_MODES(Allreduce, Iallreduce),
};
