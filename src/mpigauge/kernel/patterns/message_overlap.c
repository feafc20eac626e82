/* message-overlap - a message from rank 0 to rank 1 while they compute.
 *
 * The ranks start together.  A library may move a message in the call that starts it, by itself, in
 * any call that its owner makes meanwhile, or in the one that waits for it (MPI 4.1, 2.9): how much
 * of its time alone hides behind the computation tells which.  That time is of the same calls
 * without a computation. */
#include "patterns/computing.h"
#include "rounds/sampling.h"

enum { WORK_TIMES = 2, TESTS = 8 };

static void begin_message(struct mg_state *state)
{
    if (state->rank == 0)
        mg_isend(state, 0, 1, state->requests);
    else
        mg_irecv(state, 0, 0, state->requests);
}

static void both(struct mg_state *state)
{
    begin_message(state);
    mg_compute(state, state->requests);
    mg_wait(state->requests);
}

static void computed_by(struct mg_state *state, int rank)
{
    begin_message(state);
    if (state->rank == rank)
        mg_compute(state, state->requests);
    mg_wait(state->requests);
}

static void sender(struct mg_state *state)
{
    computed_by(state, 0);
}

static void receiver(struct mg_state *state)
{
    computed_by(state, 1);
}

/* ---- Persistent requests --------------------------------------------------------------------- */

static void init_message(struct mg_state *state)
{
    if (state->rank == 0)
        mg_send_init(state, 1, state->requests);
    else
        mg_recv_init(state, 0, state->requests);
}

static void started(struct mg_state *state)
{
    MG_MPI(MPI_Start(state->requests));
    mg_compute(state, state->requests);
    mg_wait(state->requests);
}

static void free_message(struct mg_state *state)
{
    MG_MPI(MPI_Request_free(state->requests));
}

#define COMPUTES \
    .source = mg_zero_to_one, .directions = 1, .overlaps = true, .work_times = WORK_TIMES

const struct mg_pattern mg_message_overlap = {
    .name         = "message-overlap",
    .about        = "a message from rank 0 to rank 1 while they compute",
    .time_of      = "from the first rank's start to the last one's end, computation included",
    .family       = MG_MESSAGE,
    .sampling     = &mg_sampling_common,
    .min_ranks    = 2,
    .active_ranks = 2,
    .trips        = 1,
    .moves_bytes  = true,
    .no_rate      = true,
    .wire         = MG_ONE_MESSAGE,
    .modes = MG_MODES({.name  = "both",
                       .about = "MPI_Isend and MPI_Irecv, a computation of twice as long on both "
                                "ranks, MPI_Wait",
                       .call  = both,
                       COMPUTES},
                      {.name      = "sender",
                       .about     = "the same; rank 0 alone computes",
                       .call      = sender,
                       .computing = MG_OF_SEND,
                       COMPUTES},
                      {.name      = "receiver",
                       .about     = "the same; rank 1 alone computes",
                       .call      = receiver,
                       .computing = MG_OF_RECEIVE,
                       COMPUTES},
                      {.name        = "tested",
                       .about       = "as `both`, with MPI_Test between parts of the computation",
                       .call        = both,
                       .may_test    = true,
                       .tests_usual = TESTS,
                       COMPUTES},
                      {.name          = "started",
                       .about         = "as `both`, with persistent requests: MPI_Start",
                       .begin         = init_message,
                       .call          = started,
                       .finish        = free_message,
                       .binds_buffers = true,
                       COMPUTES}),
};
