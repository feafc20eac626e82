/* exchange - ranks 0 and 1 send to each other at the same time (head-to-head). */
#include "patterns/calls.h"
#include "patterns/parts.h"
#include "rounds/sampling.h"

static int other(const struct mg_state *state)
{
    return 1 - state->rank;
}

/* Both send first: this returns only because MPI takes the message before anybody receives it. */
static void blocking(struct mg_state *state)
{
    mg_send(state, other(state));
    mg_recv(state, other(state));
}

static void sendrecv(struct mg_state *state)
{
    mg_sendrecv(state, other(state), other(state));
}

static void nonblocking(struct mg_state *state)
{
    mg_isend(state, 0, other(state), &state->requests[0]);
    mg_irecv(state, 0, other(state), &state->requests[1]);
    MG_MPI(MPI_Waitall(2, state->requests, MPI_STATUSES_IGNORE));
}

static void in_parts(struct mg_state *state, int parts)
{
    mg_in_parts(state, parts, sendrecv);
}

MG_PARTS_FUNCTIONS

const struct mg_pattern mg_exchange = {
    .name         = "exchange",
    .about        = "ranks 0 and 1 send to each other at the same time",
    .time_of      = "one exchange, both messages",
    .family       = MG_MESSAGE,
    .sampling     = &mg_sampling_blocks,
    .min_ranks    = 2,
    .active_ranks = 2,
    .trips        = 1,
    .moves_bytes  = true,
    .wire         = MG_ONE_MESSAGE,
    .modes = MG_MODES({.name       = "nonblocking",
                       .about      = "MPI_Isend, MPI_Irecv, MPI_Waitall",
                       .call       = nonblocking,
                       .source     = other,
                       .directions = 2,
                       .instead_of = "sendrecv"},
                      {.name       = "sendrecv",
                       .about      = "MPI_Sendrecv",
                       .call       = sendrecv,
                       .source     = other,
                       .directions = 2},
                      {.name        = "blocking",
                       .about       = "both MPI_Send, then MPI_Recv: only below the eager limit",
                       .call        = blocking,
                       .source      = other,
                       .directions  = 2,
                       .needs_eager = true},
                      MG_PARTS_MODES("MPI_Sendrecv", "sendrecv", .source = other, .directions = 2)),
};
