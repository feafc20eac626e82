/* pingpong - ranks 0 and 1 send one message there and back.
 * One call is two one-way trips, hence .trips = 2. */
#include "patterns/calls.h"
#include "patterns/parts.h"
#include "rounds/sampling.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define PING_PONG(name, sending, receiving) \
    MG_PING_PONG(name, sending(state, peer), receiving(state, peer))

PING_PONG(standard, mg_send, mg_recv)
PING_PONG(synchronous, mg_ssend, mg_recv)
PING_PONG(buffered, mg_bsend, mg_recv)

/* ---- buffered: MPI copies into an attached buffer ---- */

static void attach(struct mg_state *state)
{
    /* One message is in flight; four leave room for a library that frees buffers late. */
    const size_t bytes = 4 * (state->bytes + MPI_BSEND_OVERHEAD);

    state->attached = malloc(bytes);
    if (state->attached == NULL)
        MG_DIE("no memory for the %zu B that MPI_Bsend needs", bytes);
    memset(state->attached, 0, bytes); /* so that no sample includes page faults */
    MG_MPI(MPI_Buffer_attach(state->attached, (int) bytes));
}

static void detach(struct mg_state *state)
{
    void *buffer = NULL;
    int   bytes  = 0;

    MG_MPI(MPI_Buffer_detach((void *) &buffer, &bytes));
    free(state->attached);
    state->attached = NULL;
}

/* ---- ready: a receive must be posted before the message is sent ---- */

/* Each side posts its next receive before it sends, so that a message also tells that the receive
 * for the answer is posted.  Only the first needs a message for that. */
static void post_first(struct mg_state *state)
{
    if (state->rank == 1) {
        mg_irecv(state, 0, 0, &state->requests[0]);
        mg_signal(state, 0);
    } else {
        mg_await(state, 1);
    }
}

/* Two modes that differ only in the send, since posting the next receive before answering takes
 * time, too. */
#define POSTED(name, sending)                           \
    static void name(struct mg_state *state)            \
    {                                                   \
        if (state->rank == 0) {                         \
            mg_irecv(state, 0, 1, &state->requests[0]); \
            sending(state, 1);                          \
            mg_wait(&state->requests[0]);               \
        } else {                                        \
            mg_wait(&state->requests[0]);               \
            mg_irecv(state, 0, 0, &state->requests[0]); \
            sending(state, 0);                          \
        }                                               \
    }

POSTED(ready, mg_rsend)
POSTED(posted, mg_send)

static void take_last(struct mg_state *state)
{
    if (state->rank == 0)
        mg_rsend(state, 1);
    else
        mg_wait(&state->requests[0]);
}

/* ---- nonblocking, persistent, sendrecv ---- */

static inline void isend_wait(struct mg_state *state, int peer)
{
    mg_isend(state, 0, peer, &state->requests[0]);
    mg_wait(&state->requests[0]);
}

static inline void irecv_wait(struct mg_state *state, int peer)
{
    mg_irecv(state, 0, peer, &state->requests[0]);
    mg_wait(&state->requests[0]);
}

PING_PONG(nonblocking, isend_wait, irecv_wait)

static void persistent_begin(struct mg_state *state)
{
    mg_send_init(state, mg_other(state), &state->requests[0]);
    mg_recv_init(state, mg_other(state), &state->requests[1]);
}

static inline void start_send(struct mg_state *state, int peer)
{
    (void) peer;
    MG_MPI(MPI_Start(&state->requests[0]));
    mg_wait(&state->requests[0]);
}

static inline void start_recv(struct mg_state *state, int peer)
{
    (void) peer;
    MG_MPI(MPI_Start(&state->requests[1]));
    mg_wait(&state->requests[1]);
}

PING_PONG(persistent, start_send, start_recv)

static void persistent_finish(struct mg_state *state)
{
    MG_MPI(MPI_Request_free(&state->requests[0]));
    MG_MPI(MPI_Request_free(&state->requests[1]));
}

static inline void sendrecv_out(struct mg_state *state, int peer)
{
    mg_sendrecv(state, peer, MPI_PROC_NULL);
}

static inline void sendrecv_in(struct mg_state *state, int peer)
{
    mg_sendrecv(state, MPI_PROC_NULL, peer);
}

PING_PONG(sendrecv, sendrecv_out, sendrecv_in)

/* ---- in parts: the receiver answers after the last ---- */

static void send_part(struct mg_state *part)
{
    mg_send(part, mg_other(part));
}

static void recv_part(struct mg_state *part)
{
    mg_recv(part, mg_other(part));
}

static void in_parts(struct mg_state *state, int parts)
{
    const bool first = state->rank == 0;

    mg_in_parts(state, parts, first ? send_part : recv_part);
    mg_in_parts(state, parts, first ? recv_part : send_part);
}

MG_PARTS_FUNCTIONS

const struct mg_pattern mg_pingpong = {
    .name         = "pingpong",
    .about        = "one message there and back between ranks 0 and 1",
    .time_of      = "one way: half a round trip",
    .family       = MG_MESSAGE,
    .sampling     = &mg_sampling_chained,
    .min_ranks    = 2,
    .active_ranks = 2,
    .trips        = 2,
    .moves_bytes  = true,
    .one_way      = true,
    .wire         = MG_ONE_MESSAGE,
    .modes =
        MG_MODES({.name       = "standard",
                  .about      = "MPI_Send, MPI_Recv",
                  .call       = standard,
                  .source     = mg_other,
                  .directions = 1},
                 {.name        = "synchronous",
                  .about       = "MPI_Ssend, MPI_Recv: returns when the receive has begun",
                  .call        = synchronous,
                  .source      = mg_other,
                  .directions  = 1,
                  .never_eager = true,
                  .instead_of  = "standard"},
                 {.name            = "buffered",
                  .about           = "MPI_Bsend from an attached buffer of four messages, MPI_Recv",
                  .begin           = attach,
                  .call            = buffered,
                  .finish          = detach,
                  .source          = mg_other,
                  .directions      = 1,
                  .attaches_buffer = true},
                 {.name       = "ready",
                  .about      = "MPI_Rsend, the receive always posted before",
                  .begin      = post_first,
                  .call       = ready,
                  .finish     = take_last,
                  .source     = mg_other,
                  .directions = 1},
                 {.name       = "nonblocking",
                  .about      = "MPI_Isend and MPI_Wait, MPI_Irecv and MPI_Wait",
                  .call       = nonblocking,
                  .source     = mg_other,
                  .directions = 1,
                  .instead_of = "standard"},
                 {.name       = "persistent",
                  .about      = "MPI_Send_init and MPI_Recv_init once, then MPI_Start and MPI_Wait",
                  .begin      = persistent_begin,
                  .call       = persistent,
                  .finish     = persistent_finish,
                  .source     = mg_other,
                  .directions = 1,
                  .binds_buffers = true},
                 {.name       = "sendrecv",
                  .about      = "MPI_Sendrecv whose other half is MPI_PROC_NULL",
                  .call       = sendrecv,
                  .source     = mg_other,
                  .directions = 1},
                 {.name   = "posted",
                  .about  = "MPI_Send, the receive always posted before: `ready` but for the send",
                  .begin  = post_first,
                  .call   = posted,
                  .finish = take_last,
                  .source = mg_other,
                  .directions = 1},
                 MG_PARTS_MODES("MPI_Send", "standard", .source = mg_other, .directions = 1)),
};
