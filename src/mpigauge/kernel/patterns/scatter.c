/* scatter - the root sends a block to every rank. */
#include "patterns/mockup.h"
#include "rounds/sampling.h"

#define ARGUMENTS                                                                       \
    state->send, state->count, MPI_BYTE, mg_out_at_root(state), state->count, MPI_BYTE, \
        state->root, state->comm

MG_COLLECTIVE(Scatter, Iscatter)

static void bcast(struct mg_state *state)
{
    const bool     root = mg_is_root(state);
    unsigned char *data = root ? state->send : state->scratch;

    MG_MPI(MPI_Bcast(data, state->ranks * state->count, MPI_BYTE, state->root, state->comm));
    if (!state->in_place || !root)
        memcpy(state->recv, data + (size_t) state->rank * state->bytes, state->bytes);
}

static void scatterv(struct mg_state *state)
{
    MG_MPI(MPI_Scatterv(state->send, state->counts, state->displacements, MPI_BYTE,
                        mg_out_at_root(state), state->count, MPI_BYTE, state->root, state->comm));
}

MG_COLLECTIVE_PARTS

const struct mg_pattern mg_scatter = {
    .name         = "scatter",
    .about        = "the root sends a block to every rank",
    .time_of      = "from the first start to the last end",
    .family       = MG_COLLECTIVE,
    .sampling     = &mg_sampling_common,
    .min_ranks    = 1,
    .trips        = 1,
    .moves_bytes  = true,
    .send_each    = true,
    .rooted       = true,
    .may_in_place = true,
    .bus          = MG_BUS_OTHERS,
    .wire         = MG_TO_OTHERS,
    .piece        = mg_own_block_of_root,
    .modes = MG_MODES(MG_USUAL_MODES(Scatter, Iscatter),
                      MG_MOCKUP_BESIDE("bcast", "MPI_Bcast of all blocks, a copy of the own one",
                                       bcast, MG_ONE_EACH, .counts_all = true),
                      MG_MOCKUP("scatterv", "MPI_Scatterv", scatterv, .counts_all = true),
                      MG_PARTS_MODES("MPI_Scatter", "blocking", .directions = 1)),
};
