/* reduce - the root gets the reduction over all ranks. */
#include "patterns/mockup.h"
#include "rounds/sampling.h"

#define ARGUMENTS                                                                             \
    mg_in_at_root(state), state->recv, state->count, state->datatype, state->op, state->root, \
        state->comm

MG_COLLECTIVE(Reduce, Ireduce)

static void allreduce(struct mg_state *state)
{
    const void *own = state->send;

    if (state->in_place && mg_is_root(state))
        own = memcpy(state->scratch, state->recv, state->bytes);
    MG_MPI(MPI_Allreduce(own, state->recv, state->count, state->datatype, state->op, state->comm));
}

static void reduce_scatter_gather(struct mg_state *state)
{
    const struct mg_shares shares = mg_shares_of(state);

    MG_MPI(MPI_Reduce_scatter_block(mg_padded(state, &shares, mg_own_at_root(state)), shares.one,
                                    shares.count, state->datatype, state->op, state->comm));
    MG_MPI(MPI_Gather(shares.one, shares.count, state->datatype, mg_arriving(state, &shares),
                      shares.count, state->datatype, state->root, state->comm));
    if (mg_is_root(state))
        mg_arrived(state, &shares);
}

static void reduce_scatter_gatherv(struct mg_state *state)
{
    MG_MPI(MPI_Reduce_scatter(mg_own_at_root(state), state->scratch, state->counts, state->datatype,
                              state->op, state->comm));
    MG_MPI(MPI_Gatherv(state->scratch, state->counts[state->rank], state->datatype, state->recv,
                       state->counts, state->displacements, state->datatype, state->root,
                       state->comm));
}

static void reduce_scatter(struct mg_state *state)
{
    const void *own = state->send;

    if (state->in_place && mg_is_root(state))
        own = memcpy(state->scratch, state->recv, state->bytes);
    MG_MPI(MPI_Reduce_scatter(own, state->recv, state->counts, state->datatype, state->op,
                              state->comm));
}

MG_COLLECTIVE_PARTS

static bool piece(const struct mg_state *state, int i, struct mg_piece *piece)
{
    return mg_reduced_over_all(state, i, piece) && state->rank == state->root;
}

const struct mg_pattern mg_reduce = {
    .name         = "reduce",
    .about        = "the root gets the reduction over all ranks",
    .time_of      = "from the first start to the last end",
    .family       = MG_COLLECTIVE,
    .sampling     = &mg_sampling_common,
    .min_ranks    = 1,
    .trips        = 1,
    .moves_bytes  = true,
    .reduces      = true,
    .rooted       = true,
    .may_in_place = true,
    .bus          = MG_BUS_SAME,
    .wire         = MG_TO_OTHERS,
    .piece        = piece,
    .modes        = MG_MODES(
        MG_USUAL_MODES(Reduce, Ireduce),
        MG_MOCKUP_BESIDE("allreduce", "MPI_Allreduce", allreduce, MG_ONE_MESSAGE),
        MG_MOCKUP_BESIDE("reduce-scatter-gather",
                         "MPI_Reduce_scatter_block, MPI_Gather; copied if no multiple of the ranks",
                         reduce_scatter_gather, MG_TWO_MESSAGES),
        MG_MOCKUP_BESIDE("reduce-scatter-gatherv", "MPI_Reduce_scatter, MPI_Gatherv",
                         reduce_scatter_gatherv, MG_ONE_MESSAGE, .begin = mg_share_out),
        MG_MOCKUP_BESIDE("reduce-scatter", "MPI_Reduce_scatter with a block for the root alone",
                         reduce_scatter, MG_ONE_MESSAGE, .begin = mg_give_to_root),
        MG_PARTS_MODES("MPI_Reduce", "blocking", .directions = 1)),
};
