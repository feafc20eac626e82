/* partitioned - a ping-pong of messages whose partitions the sender marks as ready one by one
 * (MPI 4.0, chapter 4).
 *
 * The build defines MG_LACKS_PARTITIONED where a program with these calls cannot be linked: mpi.h
 * may declare what the library lacks, and Open MPI 5 has them although it reports MPI 3.1. */
#include "patterns/calls.h"
#include "rounds/sampling.h"

enum { SEND, RECV };

static int other(const struct mg_state *state)
{
    return 1 - state->rank;
}

/* Rank 0 sends first, rank 1 answers. */
#define PING_PONG(name, sending, receiving)  \
    static void name(struct mg_state *state) \
    {                                        \
        if (state->rank == 0) {              \
            sending(state);                  \
            receiving(state);                \
        } else {                             \
            receiving(state);                \
            sending(state);                  \
        }                                    \
    }

static void free_both(struct mg_state *state)
{
    MG_MPI(MPI_Request_free(&state->requests[SEND]));
    MG_MPI(MPI_Request_free(&state->requests[RECV]));
}

static inline void receive_whole(struct mg_state *state)
{
    MG_MPI(MPI_Start(&state->requests[RECV]));
    mg_wait(&state->requests[RECV]);
}

#if !defined(MG_LACKS_PARTITIONED) && \
    (MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5))

/* Both sides in this order: a library may need both to have called the first before the second
 * returns. */
static void init_both(struct mg_state *state)
{
    const int       peer  = other(state);
    const MPI_Count bytes = (MPI_Count) (state->bytes / (size_t) state->partitions);

    MG_MPI(MPI_Psend_init(state->send, state->partitions, bytes, MPI_BYTE, peer, MG_TAG,
                          state->comm, MPI_INFO_NULL, &state->requests[SEND]));
    MG_MPI(MPI_Precv_init(state->recv, state->partitions, bytes, MPI_BYTE, peer, MG_TAG,
                          state->comm, MPI_INFO_NULL, &state->requests[RECV]));
}

static inline void send_in_order(struct mg_state *state)
{
    MG_MPI(MPI_Start(&state->requests[SEND]));
    for (int i = 0; i < state->partitions; i++)
        MG_MPI(MPI_Pready(i, state->requests[SEND]));
    mg_wait(&state->requests[SEND]);
}

static inline void send_reversed(struct mg_state *state)
{
    MG_MPI(MPI_Start(&state->requests[SEND]));
    for (int i = state->partitions - 1; i >= 0; i--)
        MG_MPI(MPI_Pready(i, state->requests[SEND]));
    mg_wait(&state->requests[SEND]);
}

static inline void send_range(struct mg_state *state)
{
    MG_MPI(MPI_Start(&state->requests[SEND]));
    MG_MPI(MPI_Pready_range(0, state->partitions - 1, state->requests[SEND]));
    mg_wait(&state->requests[SEND]);
}

static inline void receive_each(struct mg_state *state)
{
    MG_MPI(MPI_Start(&state->requests[RECV]));
    for (int i = 0, there = 0; i < state->partitions; i += there)
        MG_MPI(MPI_Parrived(state->requests[RECV], i, &there));
    mg_wait(&state->requests[RECV]);
}

PING_PONG(whole, send_in_order, receive_whole)
PING_PONG(parrived, send_in_order, receive_each)
PING_PONG(range, send_range, receive_whole)
PING_PONG(reversed, send_reversed, receive_whole)

/* Open MPI 5 copies the world's communicator when partitioned requests are first started, which
 * needs all ranks.  The checker of clang-tidy does not know that such requests are nonblocking.
 * NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker) */
static void first_use(MPI_Comm world)
{
    unsigned char sent = 0, received = 0;
    MPI_Request   requests[2];
    int           rank  = 0;
    int           ranks = 0;

    MG_MPI(MPI_Comm_rank(world, &rank));
    MG_MPI(MPI_Comm_size(world, &ranks));
    MG_MPI(MPI_Psend_init(&sent, 1, 1, MPI_BYTE, (rank + 1) % ranks, MG_TAG, world, MPI_INFO_NULL,
                          &requests[SEND]));
    MG_MPI(MPI_Precv_init(&received, 1, 1, MPI_BYTE, (rank + ranks - 1) % ranks, MG_TAG, world,
                          MPI_INFO_NULL, &requests[RECV]));
    MG_MPI(MPI_Startall(2, requests));
    MG_MPI(MPI_Pready(0, requests[SEND]));
    MG_MPI(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    MG_MPI(MPI_Request_free(&requests[SEND]));
    MG_MPI(MPI_Request_free(&requests[RECV]));
}
/* NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker) */

#define FIRST_USE     first_use
#define IN_PARTS(how) .begin = init_both, .call = (how), .finish = free_both

#else

#define FIRST_USE     NULL
#define IN_PARTS(how) .lacks = "MPI_Psend_init of MPI 4"

#endif

/* ---- The baseline: the whole message at once ------------------------------------------------- */

static void persistent_init(struct mg_state *state)
{
    mg_send_init(state, other(state), &state->requests[SEND]);
    mg_recv_init(state, other(state), &state->requests[RECV]);
}

static inline void send_whole(struct mg_state *state)
{
    MG_MPI(MPI_Start(&state->requests[SEND]));
    mg_wait(&state->requests[SEND]);
}

PING_PONG(persistent, send_whole, receive_whole)

const struct mg_pattern mg_partitioned = {
    .name         = "partitioned",
    .about        = "one message in partitions there and back between ranks 0 and 1",
    .time_of      = "one way: half a round trip",
    .family       = MG_MESSAGE,
    .sampling     = &mg_sampling_chained,
    .min_ranks    = 2,
    .active_ranks = 2,
    .trips        = 2,
    .unit_bytes   = 1,
    .moves_bytes  = true,
    .counts_int   = true,
    .wire         = MG_ONE_MESSAGE,
    .first_use    = FIRST_USE,
    .modes = MG_MODES({.name  = "whole",
                       .about = "MPI_Psend_init once, then MPI_Start, MPI_Pready of each "
                                "partition, MPI_Wait; received by MPI_Start and MPI_Wait",
                       IN_PARTS(whole),
                       .source        = other,
                       .directions    = 1,
                       .binds_buffers = true,
                       .partitioned   = true},
                      {.name  = "parrived",
                       .about = "likewise, received by MPI_Parrived of one partition after the "
                                "other",
                       IN_PARTS(parrived),
                       .source        = other,
                       .directions    = 1,
                       .binds_buffers = true,
                       .partitioned   = true},
                      {.name  = "range",
                       .about = "all partitions made ready at once by MPI_Pready_range",
                       IN_PARTS(range),
                       .source        = other,
                       .directions    = 1,
                       .binds_buffers = true,
                       .partitioned   = true},
                      {.name  = "reversed",
                       .about = "MPI_Pready from the last partition to the first",
                       IN_PARTS(reversed),
                       .source        = other,
                       .directions    = 1,
                       .binds_buffers = true,
                       .partitioned   = true},
                      {.name   = "persistent",
                       .about  = "MPI_Send_init and MPI_Recv_init once, without partitions: what "
                                 "the others are compared with",
                       .begin  = persistent_init,
                       .call   = persistent,
                       .finish = free_both,
                       .source = other,
                       .directions    = 1,
                       .binds_buffers = true}),
};
