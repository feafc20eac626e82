/* scan - each rank gets the reduction over the ranks up to itself. */
#include "patterns/mockup.h"
#include "rounds/sampling.h"

#define ARGUMENTS mg_in(state), state->recv, state->count, state->datatype, state->op, state->comm

MG_COLLECTIVE(Scan, Iscan)

/* All operations commute, so either operand may be the result of MPI_Exscan. */
static void exscan_reduce_local(struct mg_state *state)
{
    unsigned char *before = state->in_place ? state->scratch : state->recv;

    MG_MPI(
        MPI_Exscan(mg_own(state), before, state->count, state->datatype, state->op, state->comm));
    if (state->rank > 0)
        MG_MPI(MPI_Reduce_local(state->in_place ? before : state->send, state->recv, state->count,
                                state->datatype, state->op));
    else if (!state->in_place)
        memcpy(state->recv, state->send, state->bytes);
}

MG_COLLECTIVE_PARTS

static bool piece(const struct mg_state *state, int i, struct mg_piece *piece)
{
    *piece = (struct mg_piece){.bytes = state->bytes, .source = 0, .ranks = state->rank + 1};
    return i == 0;
}

const struct mg_pattern mg_scan = {
    .name         = "scan",
    .about        = "every rank gets the reduction over the ranks up to itself",
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
    .modes        = MG_MODES(MG_USUAL_MODES(Scan, Iscan),
                             MG_MOCKUP_BESIDE("exscan-reduce-local", "MPI_Exscan, MPI_Reduce_local",
                                              exscan_reduce_local, MG_ONE_MESSAGE),
                             MG_PARTS_MODES("MPI_Scan", "blocking", .directions = 1)),
};
