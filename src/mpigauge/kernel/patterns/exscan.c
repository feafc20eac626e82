/* exscan - each rank gets the reduction over the ranks before it. */
#include "patterns/mockup.h"
#include "rounds/sampling.h"

#define ARGUMENTS mg_in(state), state->recv, state->count, state->datatype, state->op, state->comm

MG_COLLECTIVE(Exscan, Iexscan)

MG_COLLECTIVE_PARTS

/* What rank 0 gets is undefined. */
static bool piece(const struct mg_state *state, int i, struct mg_piece *piece)
{
    *piece = (struct mg_piece){.bytes = state->bytes, .source = 0, .ranks = state->rank};
    return i == 0 && state->rank > 0;
}

const struct mg_pattern mg_exscan = {
    .name         = "exscan",
    .about        = "every rank gets the reduction over the ranks before itself",
    .time_of      = "from the first start to the last end",
    .family       = MG_COLLECTIVE,
    .sampling     = &mg_sampling_common,
    .min_ranks    = 1,
    .trips        = 1,
    .moves_bytes  = true,
    .reduces      = true,
    .may_in_place = true,
    .bus          = MG_BUS_SAME,
    .wire         = MG_TO_OTHERS,
    .piece        = piece,
    .modes        = MG_MODES(MG_USUAL_MODES(Exscan, Iexscan),
                             MG_PARTS_MODES("MPI_Exscan", "blocking", .directions = 1)),
};
