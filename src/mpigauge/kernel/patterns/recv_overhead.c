/* recv_overhead - CPU time of receiving a message that has arrived: o_r of LogP and PLogP.
 *
 * Only the call is timed.  Rank 0 does not guess by a delay that the message has arrived: rank 1
 * sends another of the same size after it, rank 0 receives that, and then calls MPI_Iprobe until
 * the message itself is there.  This assumes that of two messages of one size the first arrives
 * first; an empty one could overtake.  Above the eager limit a message stays with its sender until
 * it is received, so there is no such time. */
#include "patterns/calls.h"
#include "rounds/sampling.h"

static void wait_until_there(const struct mg_state *state)
{
    int there = 0;

    while (!there)
        MG_MPI(MPI_Iprobe(1, MG_TAG, state->comm, &there, MPI_STATUS_IGNORE));
}

static void send_follower(const struct mg_state *state)
{
    MG_BYTES(MPI_Send, state->send, state->bytes, 0, MG_TAG_CONTROL, state->comm);
}

static void receive_follower(const struct mg_state *state)
{
    MG_BYTES(MPI_Recv, state->scratch, state->bytes, 1, MG_TAG_CONTROL, state->comm,
             MPI_STATUS_IGNORE);
}

/* Rank 1 sends on request, so that no other message is in flight. */
static void prepare(struct mg_state *state)
{
    if (state->rank == 0) {
        mg_signal(state, 1);
        receive_follower(state);
        wait_until_there(state);
    } else {
        mg_await(state, 0);
        mg_send(state, 0);
        send_follower(state);
    }
}

static void standard(struct mg_state *state)
{
    if (state->rank == 0)
        mg_recv(state, 1);
}

const struct mg_pattern mg_recv_overhead = {
    .name         = "recv-overhead",
    .about        = "how long the call that receives keeps the receiver of a message that is there",
    .time_of      = "the call that receives, the message there before",
    .family       = MG_MESSAGE,
    .sampling     = &mg_sampling_prepared,
    .min_ranks    = 2,
    .active_ranks = 2,
    .trips        = 1,
    .moves_bytes  = true,
    .overhead     = MG_OF_RECEIVE,
    .wire         = MG_ONE_MESSAGE,
    .prepare      = prepare,
    .modes        = MG_MODES({.name          = "standard",
                              .about         = "MPI_Recv of a message that is there: eager ones only",
                              .call          = standard,
                              .source        = mg_one_to_zero,
                              .directions    = 1,
                              .needs_eager   = true,
                              .binds_buffers = true,
                              .scratch       = MG_ONE_MESSAGE}),
};
