/* gather - the root gets a block from every rank. */
#include "patterns/mockup.h"
#include "rounds/sampling.h"

#define ARGUMENTS                                                                      \
    mg_in_at_root(state), state->count, MPI_BYTE, state->recv, state->count, MPI_BYTE, \
        state->root, state->comm

MG_COLLECTIVE(Gather, Igather)

static void allgather(struct mg_state *state)
{
    const void *own = state->send;

    if (state->in_place && mg_is_root(state))
        own = memcpy(state->scratch, mg_own_block(state), state->bytes);
    MG_MPI(MPI_Allgather(own, state->count, MPI_BYTE, state->recv, state->count, MPI_BYTE,
                         state->comm));
}

static void gatherv(struct mg_state *state)
{
    MG_MPI(MPI_Gatherv(mg_in_at_root(state), state->count, MPI_BYTE, state->recv, state->counts,
                       state->displacements, MPI_BYTE, state->root, state->comm));
}

static void reduce(struct mg_state *state)
{
    const bool  stays = state->in_place && mg_is_root(state);
    const void *own   = stays ? mg_own_block(state) : state->send;

    MG_MPI(MPI_Reduce(mg_alone_among_zeros(state, own), state->recv, state->ranks * state->count,
                      MPI_BYTE, MPI_BOR, state->root, state->comm));
}

static void in_parts(struct mg_state *state, int parts)
{
    if (state->in_place && mg_is_root(state))
        mg_copied_in_parts(state, parts, blocking);
    else
        mg_in_parts(state, parts, blocking);
}

MG_PARTS_FUNCTIONS

const struct mg_pattern mg_gather = {
    .name         = "gather",
    .about        = "the root gets a block from every rank",
    .time_of      = "from the first start to the last end",
    .family       = MG_COLLECTIVE,
    .sampling     = &mg_sampling_common,
    .min_ranks    = 1,
    .trips        = 1,
    .moves_bytes  = true,
    .recv_each    = true,
    .rooted       = true,
    .may_in_place = true,
    .bus          = MG_BUS_OTHERS,
    .wire         = MG_TO_OTHERS,
    .piece        = mg_blocks_at_root,
    .modes        = MG_MODES(
        MG_USUAL_MODES(Gather, Igather),
        MG_MOCKUP_BESIDE("allgather", "MPI_Allgather", allgather, MG_ONE_MESSAGE,
                         .room_everywhere = true),
        MG_MOCKUP("gatherv", "MPI_Gatherv", gatherv, .counts_all = true),
        MG_MOCKUP_BESIDE("reduce", "zeros around the block, MPI_Reduce with MPI_BOR", reduce,
                         MG_ONE_EACH, .counts_all = true),
        MG_PARTS_MODES("MPI_Gather", "blocking", .directions = 1, .scratch = MG_ONE_MESSAGE)),
};
