/* bcast - the root sends the same to all ranks. */
#include "patterns/mockup.h"
#include "rounds/sampling.h"

#define ARGUMENTS                                                                                  \
    (state->rank == state->root ? state->send : state->recv), state->count, MPI_BYTE, state->root, \
        state->comm

MG_COLLECTIVE(Bcast, Ibcast)

static void scatter_allgather(struct mg_state *state)
{
    const struct mg_shares shares = mg_shares_of(state);
    const bool             root   = mg_is_root(state);

    MG_MPI(MPI_Scatter(root ? mg_padded(state, &shares, state->send) : NULL, shares.count, MPI_BYTE,
                       shares.one, shares.count, MPI_BYTE, state->root, state->comm));
    MG_MPI(MPI_Allgather(shares.one, shares.count, MPI_BYTE, mg_arriving(state, &shares),
                         shares.count, MPI_BYTE, state->comm));
    if (!root)
        mg_arrived(state, &shares);
}

/* Empty blocks except that of the root. */
static void allgatherv(struct mg_state *state)
{
    MG_MPI(MPI_Allgatherv(state->send, state->counts[state->rank], MPI_BYTE, state->recv,
                          state->counts, state->displacements, MPI_BYTE, state->comm));
}

MG_COLLECTIVE_PARTS

static bool piece(const struct mg_state *state, int i, struct mg_piece *piece)
{
    *piece = (struct mg_piece){.bytes = state->bytes, .source = state->root};
    return i == 0 && state->rank != state->root;
}

const struct mg_pattern mg_bcast = {
    .name        = "bcast",
    .about       = "the root sends the same to all ranks",
    .time_of     = "from the first start to the last end",
    .family      = MG_COLLECTIVE,
    .sampling    = &mg_sampling_common,
    .min_ranks   = 1,
    .trips       = 1,
    .moves_bytes = true,
    .rooted      = true,
    .bus         = MG_BUS_SAME,
    .wire        = MG_TO_OTHERS,
    .piece       = piece,
    .modes =
        MG_MODES(MG_USUAL_MODES(Bcast, Ibcast),
                 MG_MOCKUP_BESIDE("scatter-allgather",
                                  "MPI_Scatter, MPI_Allgather; copied if no multiple of the ranks",
                                  scatter_allgather, MG_TWO_MESSAGES),
                 MG_MOCKUP("allgatherv", "MPI_Allgatherv with a block of the root alone",
                           allgatherv, .begin = mg_give_to_root),
                 MG_PARTS_MODES("MPI_Bcast", "blocking", .directions = 1)),
};
