/* allreduce - all get the reduction over all ranks. */
#include "collective.h"

#define ARGUMENTS mg_in(state), state->recv, state->count, state->datatype, state->op, state->comm

MG_COLLECTIVE(Allreduce, Iallreduce)

const struct mg_pattern mg_allreduce = {
    .name         = "allreduce",
    .about        = "all ranks get the reduction over all ranks",
    .time_of      = "from the first start to the last end",
    .sampling     = MG_COMMON,
    .min_ranks    = 1,
    .trips        = 1,
    .moves_bytes  = true,
    .reduces      = true,
    .may_in_place = true,
    .bus          = MG_BUS_TWICE,
    .piece        = mg_reduced_over_all,
    .modes        = MG_MODES(Allreduce, Iallreduce),
};
