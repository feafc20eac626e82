/* allgather - all ranks get a block from every rank. */
#include "patterns/mockup.h"
#include "rounds/sampling.h"

#define ARGUMENTS \
    mg_in(state), state->count, MPI_BYTE, state->recv, state->count, MPI_BYTE, state->comm

MG_COLLECTIVE(Allgather, Iallgather)

static void gather_bcast(struct mg_state *state)
{
    const bool  stays = state->in_place && mg_is_root(state);
    const void *own   = stays ? MPI_IN_PLACE : mg_own_block(state);

    MG_MPI(MPI_Gather(own, state->count, MPI_BYTE, state->recv, state->count, MPI_BYTE, state->root,
                      state->comm));
    MG_MPI(MPI_Bcast(state->recv, state->ranks * state->count, MPI_BYTE, state->root, state->comm));
}

static void alltoall(struct mg_state *state)
{
    for (int rank = 0; rank < state->ranks; rank++)
        memcpy(state->scratch + (size_t) rank * state->bytes, mg_own_block(state), state->bytes);
    MG_MPI(MPI_Alltoall(state->scratch, state->count, MPI_BYTE, state->recv, state->count, MPI_BYTE,
                        state->comm));
}

static void allgatherv(struct mg_state *state)
{
    MG_MPI(MPI_Allgatherv(mg_in(state), state->count, MPI_BYTE, state->recv, state->counts,
                          state->displacements, MPI_BYTE, state->comm));
}

static void allreduce(struct mg_state *state)
{
    MG_MPI(MPI_Allreduce(mg_alone_among_zeros(state, mg_own_block(state)), state->recv,
                         state->ranks * state->count, MPI_BYTE, MPI_BOR, state->comm));
}

static void in_parts(struct mg_state *state, int parts)
{
    if (state->in_place)
        mg_copied_in_parts(state, parts, blocking);
    else
        mg_in_parts(state, parts, blocking);
}

MG_PARTS_FUNCTIONS

const struct mg_pattern mg_allgather = {
    .name         = "allgather",
    .about        = "all ranks get a block from every rank",
    .time_of      = "from the first start to the last end",
    .family       = MG_COLLECTIVE,
    .sampling     = &mg_sampling_common,
    .min_ranks    = 1,
    .trips        = 1,
    .moves_bytes  = true,
    .recv_each    = true,
    .may_in_place = true,
    .bus          = MG_BUS_OTHERS,
    .wire         = MG_ALL_TO_OTHERS,
    .piece        = mg_blocks_of_all,
    .modes        = MG_MODES(
        MG_USUAL_MODES(Allgather, Iallgather),
        MG_MOCKUP("gather-bcast", "MPI_Gather, MPI_Bcast", gather_bcast, .counts_all = true),
        MG_MOCKUP_BESIDE("alltoall", "a copy of the block for every rank, MPI_Alltoall", alltoall,
                         MG_ONE_EACH),
        MG_MOCKUP("allgatherv", "MPI_Allgatherv", allgatherv, .counts_all = true),
        MG_MOCKUP_BESIDE("allreduce", "zeros around the block, MPI_Allreduce with MPI_BOR",
                         allreduce, MG_ONE_EACH, .counts_all = true),
        MG_PARTS_MODES("MPI_Allgather", "blocking", .directions = 1, .scratch = MG_ONE_MESSAGE)),
};
