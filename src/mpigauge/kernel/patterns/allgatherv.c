/* allgatherv - allgather with a count and a displacement per block. */
#include "patterns/mockup.h"
#include "rounds/sampling.h"

#define ARGUMENTS                                                                           \
    mg_in(state), state->count, MPI_BYTE, state->recv, state->counts, state->displacements, \
        MPI_BYTE, state->comm

MG_COLLECTIVE(Allgatherv, Iallgatherv)

MG_COUNTED

static void in_parts(struct mg_state *state, int parts)
{
    if (state->in_place)
        mg_copied_in_parts(state, parts, counted);
    else
        mg_in_parts(state, parts, counted);
}

MG_PARTS_FUNCTIONS

const struct mg_pattern mg_allgatherv = {
    .name         = "allgatherv",
    .about        = "allgather with a count and a place for every block, all equal here",
    .time_of      = "from the first start to the last end",
    .family       = MG_COLLECTIVE,
    .sampling     = &mg_sampling_common,
    .min_ranks    = 1,
    .trips        = 1,
    .moves_bytes  = true,
    .recv_each    = true,
    .may_in_place = true,
    .counts_all   = true,
    .bus          = MG_BUS_OTHERS,
    .wire         = MG_ALL_TO_OTHERS,
    .piece        = mg_blocks_of_all,
    .modes        = MG_MODES(
        MG_USUAL_MODES(Allgatherv, Iallgatherv),
        MG_PARTS_MODES("MPI_Allgatherv", "blocking", .directions = 1, .scratch = MG_ONE_MESSAGE)),
};
