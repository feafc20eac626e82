/* early_bird - what is left of a message when the last of its partitions becomes ready.
 *
 * Rank 0 computes one partition after the other for as long as the whole message takes, which is
 * timed first, in the same mode without a computation.  Rank 1 has started to receive.  The time
 * from the last partition on, on the clock of rank 0, ends with the empty answer of rank 1; half an
 * empty round trip is subtracted from it. */
#include "machine/compute.h"
#include "patterns/partitions.h"
#include "rounds/sampling.h"

static void empty_round_trip(struct mg_state *state)
{
    mg_empty_round_trip(state, 1);
}

/* The request of a rank: rank 0 sends, rank 1 receives. */
static MPI_Request *request_of(struct mg_state *state)
{
    return &state->requests[state->rank == 0 ? MG_SEND : MG_RECV];
}

static void free_request(struct mg_state *state)
{
    MG_MPI(MPI_Request_free(request_of(state)));
}

static void complete(struct mg_state *state)
{
    mg_wait(request_of(state));
    if (state->rank == 0)
        mg_await(state, 1);
    else
        mg_signal(state, 0);
}

/* ---- In partitions --------------------------------------------------------------------------- */

#ifdef MG_HAS_PARTITIONS

static void init_partitioned(struct mg_state *state)
{
    if (state->rank == 0)
        mg_psend_init(state, 1);
    else
        mg_precv_init(state, 0);
}

static void ready(struct mg_state *state, int partition)
{
    MG_MPI(MPI_Pready(partition, *request_of(state)));
}

/* The partitions that are not ready before the clock starts: the last one, or all of a message that
 * nothing is computed for, which then is timed as a whole. */
static int first_timed(const struct mg_state *state)
{
    return state->work > 0 ? state->partitions - 1 : 0;
}

static void last_partitions(struct mg_state *state)
{
    for (int i = first_timed(state); i < state->partitions && state->rank == 0; i++)
        ready(state, i);
    complete(state);
}

#define PARTITIONED .begin = init_partitioned, .call = last_partitions, .finish = free_request

#else

static int first_timed(const struct mg_state *state)
{
    return state->partitions;
}

static void ready(struct mg_state *state, int partition)
{
    (void) state;
    (void) partition;
}

#define PARTITIONED MG_NO_PARTITIONS

#endif

/* ---- The baseline: nothing before all is computed -------------------------------------------- */

static void init_whole(struct mg_state *state)
{
    if (state->rank == 0)
        mg_send_init(state, 1, request_of(state));
    else
        mg_recv_init(state, 0, request_of(state));
}

static void send_whole(struct mg_state *state)
{
    if (state->rank == 0)
        MG_MPI(MPI_Start(request_of(state)));
    complete(state);
}

/* ---- Before the clock starts ----------------------------------------------------------------- */

/* All partitions but the last become ready as they are computed.  Mode `send` has none. */
static void compute(struct mg_state *state)
{
    const int parts = state->partitions > 0 ? state->partitions : 1;

    for (int i = 0; i < parts; i++) {
        mg_work(state->work / parts);
        if (i < state->partitions && i < first_timed(state))
            ready(state, i);
    }
}

/* Rank 0 begins to compute when rank 1 receives. */
static void prepare(struct mg_state *state)
{
    if (state->rank == 0)
        mg_await(state, 1);
    if (state->rank == 1 || state->partitions > 0)
        MG_MPI(MPI_Start(request_of(state)));
    if (state->rank == 0)
        compute(state);
    else
        mg_signal(state, 0);
}

const struct mg_pattern mg_early_bird = {
    .name      = "early-bird",
    .about     = "what is left of a message from rank 0 when its last partition becomes ready",
    .time_of   = "from the last partition on until rank 1 has all: with its answer, less half an "
                 "empty round trip",
    .family    = MG_MESSAGE,
    .sampling  = &mg_sampling_prepared,
    .min_ranks = 2,
    .active_ranks = 2,
    .trips        = 1,
    .unit_bytes   = 1,
    .sizes_usual  = "4KiB,64KiB,1MiB,4MiB",
    .moves_bytes  = true,
    .no_rate      = true,
    .counts_int   = true,
    .wire         = MG_ONE_MESSAGE,
    .first_use    = MG_FIRST_PARTITIONS,
    .prepare      = prepare,
    .baseline     = empty_round_trip,
    .modes = MG_MODES({.name  = "partitioned",
                       .about = "MPI_Pready of each partition once it is computed; timed from that "
                                "of the last",
                       PARTITIONED,
                       .source         = mg_zero_to_one,
                       .directions     = 1,
                       .binds_buffers  = true,
                       .computes_first = true,
                       .partitioned    = true},
                      {.name       = "send",
                       .about      = "MPI_Send_init and MPI_Recv_init once, MPI_Start when all is "
                                     "computed: what the other is compared with",
                       .begin      = init_whole,
                       .call       = send_whole,
                       .finish     = free_request,
                       .source     = mg_zero_to_one,
                       .directions = 1,
                       .binds_buffers  = true,
                       .beside_first   = true,
                       .computes_first = true}),
};
