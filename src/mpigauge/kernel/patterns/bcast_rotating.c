/* bcast_rotating - broadcasts back to back, the root moving on by one each time, so that no root
 * can run ahead of the others.  One call goes once around. */
#include "patterns/calls.h"
#include "rounds/sampling.h"

static void call(struct mg_state *state)
{
    for (int i = 0; i < state->ranks; i++) {
        unsigned char *data = state->rank == state->turn ? state->send : state->recv;

        MG_MPI(MPI_Bcast(data, state->count, MPI_BYTE, state->turn, state->comm));
        state->turn = state->turn + 1 == state->ranks ? 0 : state->turn + 1;
    }
}

/* After a call, every rank has last received from the last root, which itself received from the one
 * before. */
static bool piece(const struct mg_state *state, int i, struct mg_piece *piece)
{
    const int last = (state->turn + state->ranks - 1) % state->ranks;

    *piece = (struct mg_piece){
        .bytes  = state->bytes,
        .source = state->rank == last ? (last + state->ranks - 1) % state->ranks : last};
    return i == 0;
}

const struct mg_pattern mg_bcast_rotating = {
    .name  = "bcast-rotating",
    .about = "broadcasts back to back, the root moving on by one each time",
    .time_of =
        "one broadcast: the mean over broadcasts from every rank in turn, by the clock of rank 0",
    .family      = MG_COLLECTIVE,
    .sampling    = &mg_sampling_blocks,
    .min_ranks   = 2,
    .trips       = MG_TRIPS_RANKS,
    .moves_bytes = true,
    .bus         = MG_BUS_SAME,
    .wire        = MG_TO_OTHERS,
    .piece       = piece,
    .modes       = MG_MODES({.name          = "blocking",
                             .about         = "MPI_Bcast",
                             .call          = call,
                             .directions    = 1,
                             .binds_buffers = true}),
};
