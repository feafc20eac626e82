/* partitioned - a ping-pong of messages whose partitions the sender marks as ready one by one. */
#include "patterns/partitions.h"
#include "rounds/sampling.h"

#define PING_PONG(name, sending, receiving) MG_PING_PONG(name, sending(state), receiving(state))

static void free_both(struct mg_state *state)
{
    MG_MPI(MPI_Request_free(&state->requests[MG_SEND]));
    MG_MPI(MPI_Request_free(&state->requests[MG_RECV]));
}

static inline void receive_whole(struct mg_state *state)
{
    mg_start_and_wait(state, MG_RECV);
}

#ifdef MG_HAS_PARTITIONS

/* Both sides in this order: a library may need both to have called the first before the second
 * returns. */
static void init_both(struct mg_state *state)
{
    mg_psend_init(state, mg_other(state));
    mg_precv_init(state, mg_other(state));
}

static inline void send_in_order(struct mg_state *state)
{
    MG_MPI(MPI_Start(&state->requests[MG_SEND]));
    for (int i = 0; i < state->partitions; i++)
        MG_MPI(MPI_Pready(i, state->requests[MG_SEND]));
    mg_wait(&state->requests[MG_SEND]);
}

static inline void send_reversed(struct mg_state *state)
{
    MG_MPI(MPI_Start(&state->requests[MG_SEND]));
    for (int i = state->partitions - 1; i >= 0; i--)
        MG_MPI(MPI_Pready(i, state->requests[MG_SEND]));
    mg_wait(&state->requests[MG_SEND]);
}

static inline void send_range(struct mg_state *state)
{
    MG_MPI(MPI_Start(&state->requests[MG_SEND]));
    MG_MPI(MPI_Pready_range(0, state->partitions - 1, state->requests[MG_SEND]));
    mg_wait(&state->requests[MG_SEND]);
}

static inline void receive_each(struct mg_state *state)
{
    MG_MPI(MPI_Start(&state->requests[MG_RECV]));
    for (int i = 0, there = 0; i < state->partitions; i += there)
        MG_MPI(MPI_Parrived(state->requests[MG_RECV], i, &there));
    mg_wait(&state->requests[MG_RECV]);
}

PING_PONG(whole, send_in_order, receive_whole)
PING_PONG(parrived, send_in_order, receive_each)
PING_PONG(range, send_range, receive_whole)
PING_PONG(reversed, send_reversed, receive_whole)

#define IN_PARTS(how) .begin = init_both, .call = (how), .finish = free_both

#else

#define IN_PARTS(how) MG_NO_PARTITIONS

#endif

/* ---- The baseline: the whole message at once ------------------------------------------------- */

static void persistent_init(struct mg_state *state)
{
    mg_send_init(state, mg_other(state), &state->requests[MG_SEND]);
    mg_recv_init(state, mg_other(state), &state->requests[MG_RECV]);
}

static inline void send_whole(struct mg_state *state)
{
    mg_start_and_wait(state, MG_SEND);
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
    .sizes_usual  = "64,4KiB,64KiB,1MiB",
    .moves_bytes  = true,
    .counts_int   = true,
    .wire         = MG_ONE_MESSAGE,
    .first_use    = MG_FIRST_PARTITIONS,
    .modes = MG_MODES({.name  = "whole",
                       .about = "MPI_Psend_init once, then MPI_Start, MPI_Pready of each "
                                "partition, MPI_Wait; received by MPI_Start and MPI_Wait",
                       IN_PARTS(whole),
                       .source        = mg_other,
                       .directions    = 1,
                       .binds_buffers = true,
                       .partitioned   = true},
                      {.name  = "parrived",
                       .about = "likewise, received by MPI_Parrived of one partition after the "
                                "other",
                       IN_PARTS(parrived),
                       .source        = mg_other,
                       .directions    = 1,
                       .binds_buffers = true,
                       .partitioned   = true},
                      {.name  = "range",
                       .about = "all partitions made ready at once by MPI_Pready_range",
                       IN_PARTS(range),
                       .source        = mg_other,
                       .directions    = 1,
                       .binds_buffers = true,
                       .partitioned   = true},
                      {.name  = "reversed",
                       .about = "MPI_Pready from the last partition to the first",
                       IN_PARTS(reversed),
                       .source        = mg_other,
                       .directions    = 1,
                       .binds_buffers = true,
                       .partitioned   = true},
                      {.name   = "persistent",
                       .about  = "MPI_Send_init and MPI_Recv_init once, without partitions: what "
                                 "the others are compared with",
                       .begin  = persistent_init,
                       .call   = persistent,
                       .finish = free_both,
                       .source = mg_other,
                       .directions    = 1,
                       .beside_first  = true,
                       .binds_buffers = true}),
};
