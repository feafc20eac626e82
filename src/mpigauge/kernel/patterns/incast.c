/* incast - all ranks send to one at the same time. */
#include "patterns/calls.h"
#include "rounds/sampling.h"

static int senders(const struct mg_state *state)
{
    return state->ranks - 1;
}

static int rank_of(const struct mg_state *state, int sender)
{
    return sender + (sender >= state->root);
}

/* The requests of all messages of a sender but the last, ... */
static MPI_Request *first_ones(struct mg_state *state, int sender)
{
    return state->requests + (size_t) sender * (size_t) (state->window - 1);
}

/* ... and those of the last ones, of all senders. */
static MPI_Request *last_ones(struct mg_state *state)
{
    return first_ones(state, senders(state));
}

/* In turn from every sender, so that none of them is served before the others.  The requests of a
 * call that has ended are MPI_REQUEST_NULL: then nothing is posted yet. */
static void post(struct mg_state *state)
{
    const int last = state->window - 1;

    if (state->rank != state->root || *last_ones(state) != MPI_REQUEST_NULL)
        return;
    for (int i = 0; i < last; i++)
        for (int sender = 0; sender < senders(state); sender++)
            mg_irecv_block(state, i, rank_of(state, sender), first_ones(state, sender) + i);
    for (int sender = 0; sender < senders(state); sender++)
        mg_irecv_block(state, last, rank_of(state, sender), last_ones(state) + sender);
}

static void forget(struct mg_state *state)
{
    for (int i = 0; i < state->window * senders(state); i++)
        state->requests[i] = MPI_REQUEST_NULL;
}

/* What was posted for a call that does not come. */
static void cancel(struct mg_state *state)
{
    for (int i = 0; i < state->window * senders(state); i++)
        if (state->requests[i] != MPI_REQUEST_NULL) {
            MG_MPI(MPI_Cancel(&state->requests[i]));
            mg_wait(&state->requests[i]);
        }
}

static void receive_all(struct mg_state *state)
{
    MG_MPI(MPI_Waitall(state->window * senders(state), state->requests, MPI_STATUSES_IGNORE));
}

/* Each sender hears of it when its own window is there, whatever others still send: then the times
 * of ranks say how long each took.  Only last messages are waited for at once, since to look for
 * one among those of all windows would take longer than a message. */
static void receive_and_acknowledge(struct mg_state *state)
{
    int sender = 0;

    for (int i = 0; i < senders(state); i++) {
        MG_MPI(MPI_Waitany(senders(state), last_ones(state), &sender, MPI_STATUS_IGNORE));
        MG_MPI(MPI_Waitall(state->window - 1, first_ones(state, sender), MPI_STATUSES_IGNORE));
        mg_signal(state, rank_of(state, sender));
    }
}

static void send_window(struct mg_state *state)
{
    for (int i = 0; i < state->window; i++)
        mg_isend(state, i, state->root, &state->requests[i]);
    MG_MPI(MPI_Waitall(state->window, state->requests, MPI_STATUSES_IGNORE));
}

static void stream(struct mg_state *state)
{
    if (state->rank == state->root) {
        post(state);
        receive_and_acknowledge(state);
    } else {
        send_window(state);
        mg_await(state, state->root);
    }
}

static void one(struct mg_state *state)
{
    if (state->rank == state->root) {
        post(state);
        receive_all(state);
    } else {
        mg_send(state, state->root);
    }
}

static void posted(struct mg_state *state)
{
    if (state->rank == state->root) {
        receive_and_acknowledge(state);
    } else {
        send_window(state);
        mg_await(state, state->root);
    }
}

/* A block from every other rank for each message of the window. */
static bool piece(const struct mg_state *state, int i, struct mg_piece *piece)
{
    const int number = i / senders(state);
    const int source = rank_of(state, i % senders(state));

    *piece =
        (struct mg_piece){.at = (size_t) number * state->recv_step + (size_t) source * state->bytes,
                          .from   = (size_t) number * state->bytes,
                          .bytes  = state->bytes,
                          .source = source};
    return state->rank == state->root && i < state->window * senders(state);
}

const struct mg_pattern mg_incast = {
    .name        = "incast",
    .about       = "all ranks send a window of messages to one rank at once",
    .time_of     = "until the last sender is done, per message of all senders",
    .family      = MG_MESSAGE,
    .sampling    = &mg_sampling_common_blocks,
    .min_ranks   = 2,
    .trips       = MG_TRIPS_OTHERS,
    .senders     = MG_SENDERS_AND_ONE,
    .windowed    = true,
    .moves_bytes = true,
    .recv_each   = true,
    .rooted      = true,
    .rank_times  = true,
    .one_pair    = "stream",
    .wire        = MG_ONE_MESSAGE,
    .piece       = piece,
    .modes =
        MG_MODES({.name  = "stream",
                  .about = "MPI_Isend and MPI_Irecv of a window, then an acknowledgement to each",
                  .begin = forget,
                  .call  = stream,
                  .directions = 1},
                 {.name        = "one",
                  .about       = "one MPI_Send of each rank, no acknowledgement",
                  .begin       = forget,
                  .call        = one,
                  .directions  = 1,
                  .one_message = true,
                  .alone       = true},
                 {.name          = "posted",
                  .about         = "as stream, MPI_Irecv of all before the start",
                  .begin         = forget,
                  .prepare       = post,
                  .call          = posted,
                  .finish        = cancel,
                  .directions    = 1,
                  .binds_buffers = true,
                  .alone         = true}),
};
