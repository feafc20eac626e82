/* scatterv - scatter with a count and a displacement per block. */
#include "patterns/mockup.h"
#include "rounds/sampling.h"

#define ARGUMENTS                                                                      \
    state->send, state->counts, state->displacements, MPI_BYTE, mg_out_at_root(state), \
        state->count, MPI_BYTE, state->root, state->comm

MG_COLLECTIVE(Scatterv, Iscatterv)

MG_COUNTED_PARTS

const struct mg_pattern mg_scatterv = {
    .name         = "scatterv",
    .about        = "scatter with a count and a place for every block, all equal here",
    .time_of      = "from the first start to the last end",
    .family       = MG_COLLECTIVE,
    .sampling     = &mg_sampling_common,
    .min_ranks    = 1,
    .trips        = 1,
    .moves_bytes  = true,
    .send_each    = true,
    .rooted       = true,
    .may_in_place = true,
    .counts_all   = true,
    .bus          = MG_BUS_OTHERS,
    .wire         = MG_TO_OTHERS,
    .piece        = mg_own_block_of_root,
    .modes        = MG_MODES(MG_USUAL_MODES(Scatterv, Iscatterv),
                             MG_PARTS_MODES("MPI_Scatterv", "blocking", .directions = 1)),
};
