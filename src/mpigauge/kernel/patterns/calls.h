/* calls.h - MPI's point-to-point calls for any number of bytes.
 *
 * Below 2 GiB the classic call, above it the large-count one of MPI 4; plan.c refuses larger
 * messages if the library is older.  The choice is one predictable branch. */
#ifndef MG_CALLS_H
#define MG_CALLS_H

#include "patterns/pattern.h"
#include "ranks/abort.h"
#include "ranks/groups.h"

#include <limits.h>
#include <string.h>

#if MPI_VERSION >= 4
enum { MG_LARGE_COUNTS = 1 };
#define MG_BYTES(call, data, bytes, ...)                                         \
    MG_MPI((bytes) <= INT_MAX ? call(data, (int) (bytes), MPI_BYTE, __VA_ARGS__) \
                              : call##_c(data, (MPI_Count) (bytes), MPI_BYTE, __VA_ARGS__))
#else
enum { MG_LARGE_COUNTS = 0 };
#define MG_BYTES(call, data, bytes, ...) MG_MPI(call(data, (int) (bytes), MPI_BYTE, __VA_ARGS__))
#endif

/* What a mode keeps in a visit, zero at first. */
static inline void *mg_kept(struct mg_state *state, size_t bytes)
{
    if (bytes > sizeof *state->room)
        MG_DIE("no room for %zu B of a mode", bytes);
    if (state->own == NULL)
        state->own = memset(state->room, 0, sizeof *state->room);
    return state->own;
}

static inline void mg_send(const struct mg_state *state, int to)
{
    MG_BYTES(MPI_Send, state->send, state->bytes, to, MG_TAG, state->comm);
}

static inline void mg_ssend(const struct mg_state *state, int to)
{
    MG_BYTES(MPI_Ssend, state->send, state->bytes, to, MG_TAG, state->comm);
}

static inline void mg_bsend(const struct mg_state *state, int to)
{
    MG_BYTES(MPI_Bsend, state->send, state->bytes, to, MG_TAG, state->comm);
}

static inline void mg_rsend(const struct mg_state *state, int to)
{
    MG_BYTES(MPI_Rsend, state->send, state->bytes, to, MG_TAG, state->comm);
}

static inline void mg_recv(const struct mg_state *state, int from)
{
    MG_BYTES(MPI_Recv, state->recv, state->bytes, from, MG_TAG, state->comm, MPI_STATUS_IGNORE);
}

/* Message i of a window; i = 0 where there is none. */
static inline void mg_isend(const struct mg_state *state, int i, int to, MPI_Request *request)
{
    MG_BYTES(MPI_Isend, state->send + (size_t) i * state->send_step, state->bytes, to, MG_TAG,
             state->comm, request);
}

static inline void mg_irecv(const struct mg_state *state, int i, int from, MPI_Request *request)
{
    MG_BYTES(MPI_Irecv, state->recv + (size_t) i * state->recv_step, state->bytes, from, MG_TAG,
             state->comm, request);
}

static inline void mg_send_init(const struct mg_state *state, int to, MPI_Request *request)
{
    MG_BYTES(MPI_Send_init, state->send, state->bytes, to, MG_TAG, state->comm, request);
}

static inline void mg_recv_init(const struct mg_state *state, int from, MPI_Request *request)
{
    MG_BYTES(MPI_Recv_init, state->recv, state->bytes, from, MG_TAG, state->comm, request);
}

static inline void mg_wait(MPI_Request *request)
{
    MG_MPI(MPI_Wait(request, MPI_STATUS_IGNORE));
}

/* Message i of a window from a rank that has a block of its own there. */
static inline void mg_irecv_block(const struct mg_state *state, int i, int from,
                                  MPI_Request *request)
{
    MG_BYTES(MPI_Irecv, state->recv + (size_t) i * state->recv_step + (size_t) from * state->bytes,
             state->bytes, from, MG_TAG, state->comm, request);
}

/* Message i both ways.  Either side may be MPI_PROC_NULL. */
static inline void mg_sendrecv_message(const struct mg_state *state, int i, int to, int from)
{
    const unsigned char *send = state->send + (size_t) i * state->send_step;
    unsigned char       *recv = state->recv + (size_t) i * state->recv_step;

#if MPI_VERSION >= 4
    if (state->bytes > INT_MAX) {
        MG_MPI(MPI_Sendrecv_c(send, (MPI_Count) state->bytes, MPI_BYTE, to, MG_TAG, recv,
                              (MPI_Count) state->bytes, MPI_BYTE, from, MG_TAG, state->comm,
                              MPI_STATUS_IGNORE));
        return;
    }
#endif
    MG_MPI(MPI_Sendrecv(send, (int) state->bytes, MPI_BYTE, to, MG_TAG, recv, (int) state->bytes,
                        MPI_BYTE, from, MG_TAG, state->comm, MPI_STATUS_IGNORE));
}

static inline void mg_sendrecv(const struct mg_state *state, int to, int from)
{
    mg_sendrecv_message(state, 0, to, from);
}

/* Sends what is in recv and receives into it. */
static inline void mg_sendrecv_replace(const struct mg_state *state, int peer)
{
    MG_BYTES(MPI_Sendrecv_replace, state->recv, state->bytes, peer, MG_TAG, peer, MG_TAG,
             state->comm, MPI_STATUS_IGNORE);
}

/* An empty message, to signal "ready" or "received all". */
static inline void mg_signal(const struct mg_state *state, int to)
{
    MG_MPI(MPI_Send(NULL, 0, MPI_BYTE, to, MG_TAG_CONTROL, state->comm));
}

static inline void mg_await(const struct mg_state *state, int from)
{
    MG_MPI(MPI_Recv(NULL, 0, MPI_BYTE, from, MG_TAG_CONTROL, state->comm, MPI_STATUS_IGNORE));
}

/* An empty message from rank 0 to another rank and back. */
static inline void mg_empty_round_trip(const struct mg_state *state, int other)
{
    if (state->rank == 0) {
        mg_signal(state, other);
        mg_await(state, other);
    } else if (state->rank == other) {
        mg_await(state, 0);
        mg_signal(state, 0);
    }
}

/* A call of a ping-pong, with `state` and `peer`: rank 0 sends first, rank 1 answers. */
#define MG_PING_PONG(name, sending, receiving) \
    static void name(struct mg_state *state)   \
    {                                          \
        const int peer = mg_other(state);      \
                                               \
        (void) peer;                           \
        if (state->rank == 0) {                \
            sending;                           \
            receiving;                         \
        } else {                               \
            receiving;                         \
            sending;                           \
        }                                      \
    }

#endif
