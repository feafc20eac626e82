/* bcast_acked - a broadcast that one rank after the other acknowledges with an empty message (de
 * Supinski and Karonis, "Accurately Measuring MPI Broadcasts in a Computational Grid", HPDC 1999).
 * Only one broadcast is in flight at a time, and only the clock of the root is needed. */
#include "patterns/calls.h"
#include "rounds/sampling.h"

static void empty_round_trip(struct mg_state *state)
{
    mg_empty_round_trip(state, state->turn);
}

static void call(struct mg_state *state)
{
    unsigned char *data = state->rank == 0 ? state->send : state->recv;

    MG_MPI(MPI_Bcast(data, state->count, MPI_BYTE, 0, state->comm));
    if (state->rank == 0)
        mg_await(state, state->turn);
    else if (state->rank == state->turn)
        mg_signal(state, 0);
}

static bool piece(const struct mg_state *state, int i, struct mg_piece *piece)
{
    *piece = (struct mg_piece){.bytes = state->bytes, .source = 0};
    return i == 0 && state->rank != 0;
}

const struct mg_pattern mg_bcast_acked = {
    .name      = "bcast-acked",
    .about     = "broadcasts from rank 0, acknowledged by every other rank in turn",
    .time_of   = "the largest over acknowledging ranks of broadcast and acknowledgement, less half "
                 "an empty round trip",
    .family    = MG_COLLECTIVE,
    .sampling  = &mg_sampling_acked,
    .min_ranks = 2,
    .trips     = 1,
    /* An empty broadcast may send nothing, and then no rank waits for it. */
    .unit_bytes  = 1,
    .moves_bytes = true,
    .bus         = MG_BUS_SAME,
    .wire        = MG_TO_OTHERS,
    .baseline    = empty_round_trip,
    .piece       = piece,
    .modes       = MG_MODES({.name          = "blocking",
                             .about         = "MPI_Bcast, then an empty MPI_Send",
                             .call          = call,
                             .directions    = 1,
                             .binds_buffers = true}),
};
