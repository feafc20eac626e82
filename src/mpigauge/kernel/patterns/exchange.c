/* exchange - ranks 0 and 1 send to each other at the same time (head-to-head). */
#include "patterns/calls.h"
#include "patterns/parts.h"
#include "rounds/sampling.h"

#include <string.h>

/* Both send first: this returns only if MPI buffers the message before it is received. */
static void blocking(struct mg_state *state)
{
    mg_send(state, mg_other(state));
    mg_recv(state, mg_other(state));
}

static void sendrecv(struct mg_state *state)
{
    mg_sendrecv(state, mg_other(state), mg_other(state));
}

static void nonblocking(struct mg_state *state)
{
    mg_isend(state, 0, mg_other(state), &state->requests[0]);
    mg_irecv(state, 0, mg_other(state), &state->requests[1]);
    MG_MPI(MPI_Waitall(2, state->requests, MPI_STATUSES_IGNORE));
}

static void in_parts(struct mg_state *state, int parts)
{
    mg_in_parts(state, parts, sendrecv);
}

MG_PARTS_FUNCTIONS

/* ---- One buffer for sending and receiving ---- */

/* Every call sends what the last has received. */
static void put_into_recv(struct mg_state *state)
{
    memcpy(state->recv, state->send, state->bytes);
}

static void sendrecv_replace(struct mg_state *state)
{
    mg_sendrecv_replace(state, mg_other(state));
}

/* The alternative for a program, since buffers of MPI_Sendrecv must not overlap. */
static void copy_sendrecv(struct mg_state *state)
{
    struct mg_state apart = *state;

    apart.send = memcpy(state->scratch, state->recv, state->bytes);
    mg_sendrecv(&apart, mg_other(state), mg_other(state));
}

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
    .modes =
        MG_MODES({.name       = "nonblocking",
                  .about      = "MPI_Isend, MPI_Irecv, MPI_Waitall",
                  .call       = nonblocking,
                  .source     = mg_other,
                  .directions = 2,
                  .instead_of = "sendrecv"},
                 {.name       = "sendrecv",
                  .about      = "MPI_Sendrecv",
                  .call       = sendrecv,
                  .source     = mg_other,
                  .directions = 2},
                 {.name        = "blocking",
                  .about       = "both MPI_Send, then MPI_Recv: only below the eager limit",
                  .call        = blocking,
                  .source      = mg_other,
                  .directions  = 2,
                  .needs_eager = true},
                 MG_PARTS_MODES("MPI_Sendrecv", "sendrecv", .source = mg_other, .directions = 2),
                 {.name       = "sendrecv-replace",
                  .about      = "MPI_Sendrecv_replace: one buffer for what goes and comes",
                  .begin      = put_into_recv,
                  .call       = sendrecv_replace,
                  .source     = mg_other,
                  .directions = 2},
                 {.name       = "copy-sendrecv",
                  .about      = "a copy of the buffer, MPI_Sendrecv from there into the buffer",
                  .begin      = put_into_recv,
                  .call       = copy_sendrecv,
                  .source     = mg_other,
                  .directions = 2,
                  .instead_of = "sendrecv-replace",
                  .scratch    = MG_ONE_MESSAGE}),
};
