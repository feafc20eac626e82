/* allreduce - all ranks get the reduction over all ranks. */
#include "patterns/mockup.h"
#include "rounds/sampling.h"

#define ARGUMENTS mg_in(state), state->recv, state->count, state->datatype, state->op, state->comm

MG_COLLECTIVE(Allreduce, Iallreduce)

static void reduce_bcast(struct mg_state *state)
{
    const bool  stays = state->in_place && mg_is_root(state);
    const void *own   = stays ? MPI_IN_PLACE : mg_own(state);

    MG_MPI(MPI_Reduce(own, state->recv, state->count, state->datatype, state->op, state->root,
                      state->comm));
    MG_MPI(MPI_Bcast(state->recv, state->count, state->datatype, state->root, state->comm));
}

static void reduce_scatter_allgather(struct mg_state *state)
{
    const struct mg_shares shares = mg_shares_of(state);

    MG_MPI(MPI_Reduce_scatter_block(mg_padded(state, &shares, mg_own(state)), shares.one,
                                    shares.count, state->datatype, state->op, state->comm));
    MG_MPI(MPI_Allgather(shares.one, shares.count, state->datatype, mg_arriving(state, &shares),
                         shares.count, state->datatype, state->comm));
    mg_arrived(state, &shares);
}

static void reduce_scatter_allgatherv(struct mg_state *state)
{
    MG_MPI(MPI_Reduce_scatter(mg_own(state), state->scratch, state->counts, state->datatype,
                              state->op, state->comm));
    MG_MPI(MPI_Allgatherv(state->scratch, state->counts[state->rank], state->datatype, state->recv,
                          state->counts, state->displacements, state->datatype, state->comm));
}

MG_COLLECTIVE_PARTS

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
    .modes =
        MG_MODES(MG_USUAL_MODES(Allreduce, Iallreduce),
                 MG_MOCKUP("reduce-bcast", "MPI_Reduce, MPI_Bcast", reduce_bcast),
                 MG_MOCKUP_BESIDE(
                     "reduce-scatter-allgather",
                     "MPI_Reduce_scatter_block, MPI_Allgather; copied if no multiple of the ranks",
                     reduce_scatter_allgather, MG_TWO_MESSAGES),
                 MG_MOCKUP_BESIDE("reduce-scatter-allgatherv", "MPI_Reduce_scatter, MPI_Allgatherv",
                                  reduce_scatter_allgatherv, MG_ONE_MESSAGE, .begin = mg_share_out),
                 MG_PARTS_MODES("MPI_Allreduce", "blocking", .directions = 1)),
};
