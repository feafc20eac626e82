/* reduce_scatter_block - each rank gets its block of the reduction. */
#include "patterns/mockup.h"
#include "rounds/sampling.h"

#define ARGUMENTS mg_in(state), state->recv, state->count, state->datatype, state->op, state->comm

MG_COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block)

static void reduce_scatter(struct mg_state *state)
{
    MG_MPI(MPI_Reduce(mg_own(state), state->scratch, state->ranks * state->count, state->datatype,
                      state->op, state->root, state->comm));
    MG_MPI(MPI_Scatter(state->scratch, state->count, state->datatype, state->recv, state->count,
                       state->datatype, state->root, state->comm));
}

static void counts(struct mg_state *state)
{
    MG_MPI(MPI_Reduce_scatter(mg_in(state), state->recv, state->counts, state->datatype, state->op,
                              state->comm));
}

MG_COLLECTIVE_PARTS

const struct mg_pattern mg_reduce_scatter_block = {
    .name         = "reduce_scatter_block",
    .about        = "every rank gets its block of the reduction over all ranks",
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
        MG_MODES(MG_USUAL_MODES(Reduce_scatter_block, Ireduce_scatter_block),
                 MG_MOCKUP_BESIDE("reduce-scatter", "MPI_Reduce of all blocks, MPI_Scatter",
                                  reduce_scatter, MG_ONE_EACH, .counts_all = true),
                 MG_MOCKUP_BESIDE("allreduce", "MPI_Allreduce of all blocks, a copy of the own one",
                                  mg_allreduce_of_blocks, MG_ONE_EACH, .counts_all = true),
                 MG_MOCKUP("counts", "MPI_Reduce_scatter with as much for every rank", counts),
                 MG_PARTS_MODES("MPI_Reduce_scatter_block", "blocking", .directions = 1)),
};
