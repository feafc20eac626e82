/* both_neighbours - every rank exchanges a message with the rank on its left and the one on its
 * right, all at once.
 *
 * Message 0 of a rank goes to the right, message 1 to the left.  Of two ranks each is both
 * neighbours of the other; then the order of messages, which MPI keeps, tells them apart. */
#include "patterns/calls.h"
#include "rounds/sampling.h"

enum { RIGHTWARD, LEFTWARD, NEIGHBOURS };

static int left(const struct mg_state *state)
{
    return (state->rank + state->ranks - 1) % state->ranks;
}

static int right(const struct mg_state *state)
{
    return (state->rank + 1) % state->ranks;
}

static void nonblocking(struct mg_state *state)
{
    mg_irecv(state, RIGHTWARD, left(state), &state->requests[0]);
    mg_irecv(state, LEFTWARD, right(state), &state->requests[1]);
    mg_isend(state, RIGHTWARD, right(state), &state->requests[2]);
    mg_isend(state, LEFTWARD, left(state), &state->requests[3]);
    MG_MPI(MPI_Waitall(2 * NEIGHBOURS, state->requests, MPI_STATUSES_IGNORE));
}

static void sendrecv(struct mg_state *state)
{
    mg_sendrecv_message(state, RIGHTWARD, right(state), left(state));
    mg_sendrecv_message(state, LEFTWARD, left(state), right(state));
}

static bool piece(const struct mg_state *state, int i, struct mg_piece *piece)
{
    *piece = (struct mg_piece){.at     = (size_t) i * state->recv_step,
                               .from   = (size_t) i * state->bytes,
                               .bytes  = state->bytes,
                               .source = i == RIGHTWARD ? left(state) : right(state)};
    return i < NEIGHBOURS;
}

const struct mg_pattern mg_both_neighbours = {
    .name      = "neighbours",
    .about     = "every rank exchanges messages with both of its neighbours at once",
    .time_of   = "one exchange: two messages out and two in at every rank, until the last is done",
    .family    = MG_MESSAGE,
    .sampling  = &mg_sampling_common_blocks,
    .min_ranks = 2,
    .trips     = 1,
    .messages  = NEIGHBOURS,
    .moves_bytes = true,
    .wire        = MG_ONE_EACH,
    .piece       = piece,
    .modes       = MG_MODES({.name       = "nonblocking",
                             .about      = "MPI_Irecv twice, MPI_Isend twice, MPI_Waitall",
                             .call       = nonblocking,
                             .directions = 2},
                            {.name       = "sendrecv",
                             .about      = "MPI_Sendrecv to the right, then to the left",
                             .call       = sendrecv,
                             .directions = 2}),
};
