/* send_overhead - CPU time of sending a message: o_s of LogP and PLogP.
 *
 * Only the call is timed.  Before it, rank 1 has posted its receive and signalled that, and no
 * other message is in flight. */
#include "patterns/calls.h"
#include "rounds/sampling.h"

static void no_request(struct mg_state *state)
{
    state->requests[0] = MPI_REQUEST_NULL;
}

/* On rank 0 the request is that of the last MPI_Isend, or null. */
static void prepare(struct mg_state *state)
{
    if (state->rank == 0) {
        mg_wait(&state->requests[0]);
        mg_await(state, 1);
    } else {
        mg_irecv(state, 0, 0, &state->requests[0]);
        mg_signal(state, 0);
    }
}

static void standard(struct mg_state *state)
{
    if (state->rank == 0)
        mg_send(state, 1);
    else
        mg_wait(&state->requests[0]);
}

static void nonblocking(struct mg_state *state)
{
    if (state->rank == 0)
        mg_isend(state, 0, 1, &state->requests[0]);
    else
        mg_wait(&state->requests[0]);
}

static void wait_for_last(struct mg_state *state)
{
    if (state->rank == 0)
        mg_wait(&state->requests[0]);
}

#define SENDING_MODE(function, words) \
    {.name          = #function,      \
     .about         = (words),        \
     .begin         = no_request,     \
     .call          = (function),     \
     .finish        = wait_for_last,  \
     .source        = mg_zero_to_one, \
     .directions    = 1,              \
     .binds_buffers = true}

const struct mg_pattern mg_send_overhead = {
    .name         = "send-overhead",
    .about        = "how long the call that sends keeps the sender",
    .time_of      = "the call that sends, the receive posted before",
    .family       = MG_MESSAGE,
    .sampling     = &mg_sampling_prepared,
    .min_ranks    = 2,
    .active_ranks = 2,
    .trips        = 1,
    .moves_bytes  = true,
    .overhead     = MG_OF_SEND,
    .wire         = MG_ONE_MESSAGE,
    .prepare      = prepare,
    .modes        = MG_MODES(SENDING_MODE(standard, "MPI_Send"),
                             SENDING_MODE(nonblocking, "MPI_Isend; its MPI_Wait is not timed")),
};
