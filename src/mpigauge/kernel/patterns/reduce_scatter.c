/* reduce_scatter - each rank gets its block of the reduction, with a count per block. */
#include "patterns/mockup.h"
#include "rounds/sampling.h"

#define ARGUMENTS mg_in(state), state->recv, state->counts, state->datatype, state->op, state->comm

MG_COLLECTIVE(Reduce_scatter, Ireduce_scatter)

static void reduce_scatterv(struct mg_state *state)
{
    MG_MPI(MPI_Reduce(mg_own(state), state->scratch, state->ranks * state->count, state->datatype,
                      state->op, state->root, state->comm));
    MG_MPI(MPI_Scatterv(state->scratch, state->counts, state->displacements, state->datatype,
                        state->recv, state->count, state->datatype, state->root, state->comm));
}

MG_COUNTED_PARTS

const struct mg_pattern mg_reduce_scatter = {
    .name         = "reduce_scatter",
    .about        = "reduce_scatter_block with a count for every block, all equal here",
    .time_of      = "from the first start to the last end",
    .family       = MG_COLLECTIVE,
    .sampling     = &mg_sampling_common,
    .min_ranks    = 1,
    .trips        = 1,
    .moves_bytes  = true,
    .send_each    = true,
    .reduces      = true,
    .may_in_place = true,
    .bus          = MG_BUS_OTHERS,
    .wire         = MG_ALL_TO_OTHERS,
    .piece        = mg_own_block_reduced,
    .modes =
        MG_MODES(MG_USUAL_MODES(Reduce_scatter, Ireduce_scatter),
                 MG_MOCKUP_BESIDE("allreduce", "MPI_Allreduce of all blocks, a copy of the own one",
                                  mg_allreduce_of_blocks, MG_ONE_EACH, .counts_all = true),
                 MG_MOCKUP_BESIDE("reduce-scatterv", "MPI_Reduce of all blocks, MPI_Scatterv",
                                  reduce_scatterv, MG_ONE_EACH, .counts_all = true),
                 MG_PARTS_MODES("MPI_Reduce_scatter", "blocking", .directions = 1)),
};
