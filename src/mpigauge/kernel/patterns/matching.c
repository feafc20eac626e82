/* matching - messages that are matched behind a queue: a ping-pong behind receives that are posted
 * and never matched, or the receive of a message that has arrived behind others that nobody has
 * received.
 *
 * A receive that is posted before its message is matched when that arrives, on its way; one that is
 * not, in the call that receives.  So of the former the ping-pong is timed, of the latter the call:
 * in a ping-pong its search would run while the answer is on its way.
 *
 * The queue is made in begin and removed in finish, both untimed.  Its entries have tags of their
 * own, from FIRST_TAG on: libraries may keep entries in lists by tag. */
#include "patterns/calls.h"
#include "rounds/sampling.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST_TAG       = 64,
    UNEXPECTED_MOST = 4096, /* messages that wait with the receiver, in the library's own memory */
    REVERSED_MOST   = 1024, /* a call searches through half the square of it */
};

struct own {
    MPI_Request   *requests; /* of the queue */
    unsigned char *bytes;    /* one for each of its entries */
    MPI_Request   *arriving; /* of the messages of a sample */
    int            arriving_room;
};

static struct own *own_of(const struct mg_state *state)
{
    return (struct own *) state->own;
}

static void make_room(struct mg_state *state)
{
    const size_t entries = (size_t) state->depth + 1;
    struct own  *own     = (struct own *) mg_kept(state, sizeof *own);

    own->requests = (MPI_Request *) calloc(entries, sizeof(MPI_Request));
    own->bytes    = calloc(entries, 1);
    if (own->requests == NULL || own->bytes == NULL)
        MG_DIE("no memory for a queue of %d", state->depth);
}

static void free_room(const struct mg_state *state)
{
    struct own *own = own_of(state);

    free((void *) own->requests);
    free((void *) own->arriving);
    free(own->bytes);
    *own = (struct own){0};
}

/* ---- Posted receives in front ---------------------------------------------------------------- */

static void post_queue(struct mg_state *state)
{
    make_room(state);
    for (int i = 0; i < state->depth; i++)
        MG_MPI(MPI_Irecv(&own_of(state)->bytes[i], 1, MPI_BYTE, mg_other(state), FIRST_TAG + i,
                         state->comm, &own_of(state)->requests[i]));
}

static void cancel_queue(struct mg_state *state)
{
    for (int i = 0; i < state->depth; i++)
        MG_MPI(MPI_Cancel(&own_of(state)->requests[i]));
    MG_MPI(MPI_Waitall(state->depth, own_of(state)->requests, MPI_STATUSES_IGNORE));
    free_room(state);
}

/* ---- Messages in front that nobody has received ---------------------------------------------- */

/* They have arrived when a message of their size that was sent after them has. */
static void send_queue(struct mg_state *state)
{
    for (int i = 0; i < state->depth; i++)
        MG_MPI(MPI_Isend(&own_of(state)->bytes[i], 1, MPI_BYTE, 0, FIRST_TAG + i, state->comm,
                         &own_of(state)->requests[i]));
    MG_MPI(
        MPI_Send(&own_of(state)->bytes[state->depth], 1, MPI_BYTE, 0, MG_TAG_CONTROL, state->comm));
}

static void await_queue(const struct mg_state *state)
{
    unsigned char last = 0;

    MG_MPI(MPI_Recv(&last, 1, MPI_BYTE, 1, MG_TAG_CONTROL, state->comm, MPI_STATUS_IGNORE));
}

/* Of rank 0, whose calls are timed. */
static void fill_queue(struct mg_state *state)
{
    make_room(state);
    if (state->rank == 0)
        await_queue(state);
    else
        send_queue(state);
}

static void empty_queue(struct mg_state *state)
{
    unsigned char received = 0;

    for (int i = 0; i < state->depth && state->rank == 0; i++)
        MG_MPI(MPI_Recv(&received, 1, MPI_BYTE, 1, FIRST_TAG + i, state->comm, MPI_STATUS_IGNORE));
    if (state->rank == 1)
        MG_MPI(MPI_Waitall(state->depth, own_of(state)->requests, MPI_STATUSES_IGNORE));
    free_room(state);
}

static MPI_Request *requests_of(const struct mg_state *state, int messages)
{
    struct own *own = own_of(state);

    if (messages > own->arriving_room) {
        free((void *) own->arriving);
        own->arriving      = (MPI_Request *) malloc((size_t) messages * sizeof *own->arriving);
        own->arriving_room = messages;
        if (own->arriving == NULL)
            MG_DIE("no memory for %d messages", messages);
    }
    return own->arriving;
}

/* What is too large to be sent before it is received has been announced then. */
static void send_messages(const struct mg_state *state)
{
    MPI_Request *requests = requests_of(state, state->calls);

    for (int i = 0; i < state->calls; i++)
        mg_isend(state, 0, 0, &requests[i]);
    MG_BYTES(MPI_Send, state->send, state->bytes, 0, MG_TAG_CONTROL, state->comm);
    MG_MPI(MPI_Waitall(state->calls, requests, MPI_STATUSES_IGNORE));
}

/* Rank 1 sends on request, so that no other message is in flight; its last message has memory of
 * its own, since it has the content of those that are timed. */
static void let_arrive(struct mg_state *state)
{
    if (state->rank == 0) {
        mg_signal(state, 1);
        MG_BYTES(MPI_Recv, state->scratch, state->bytes, 1, MG_TAG_CONTROL, state->comm,
                 MPI_STATUS_IGNORE);
    } else {
        mg_await(state, 0);
        send_messages(state);
    }
}

static void receive(struct mg_state *state)
{
    if (state->rank == 0)
        mg_recv(state, 1);
}

static void probe(struct mg_state *state)
{
    if (state->rank != 0)
        return;
    MG_MPI(MPI_Probe(1, MG_TAG, state->comm, MPI_STATUS_IGNORE));
    mg_recv(state, 1);
}

static void mprobe(struct mg_state *state)
{
    MPI_Message message = MPI_MESSAGE_NULL;

    if (state->rank != 0)
        return;
    MG_MPI(MPI_Mprobe(1, MG_TAG, state->comm, &message, MPI_STATUS_IGNORE));
    MG_BYTES(MPI_Mrecv, state->recv, state->bytes, &message, MPI_STATUS_IGNORE);
}

/* ---- A ping-pong ----------------------------------------------------------------------------- */

#define PING_PONG(name, receiving) MG_PING_PONG(name, mg_send(state, peer), receiving(state, peer))

static inline void from_any(const struct mg_state *state, int peer)
{
    (void) peer;
    mg_recv(state, MPI_ANY_SOURCE);
}

static inline void with_any_tag(const struct mg_state *state, int peer)
{
    MG_BYTES(MPI_Recv, state->recv, state->bytes, peer, MPI_ANY_TAG, state->comm,
             MPI_STATUS_IGNORE);
}

static inline void of_any(const struct mg_state *state, int peer)
{
    (void) peer;
    MG_BYTES(MPI_Recv, state->recv, state->bytes, MPI_ANY_SOURCE, MPI_ANY_TAG, state->comm,
             MPI_STATUS_IGNORE);
}

PING_PONG(exact, mg_recv)
PING_PONG(any_source, from_any)
PING_PONG(any_tag, with_any_tag)
PING_PONG(any, of_any)

/* ---- A queue that is matched from its end ---------------------------------------------------- */

static int messages_of(const struct mg_state *state)
{
    return state->depth > 1 ? state->depth : 1;
}

/* The receive that is posted first gets the message that is compared with the content, the others
 * have memory of their own, ... */
static unsigned char *place_of(const struct mg_state *state, int i)
{
    return i == 0 ? state->recv : state->scratch + (size_t) (i - 1) * state->recv_step;
}

/* ... and so have the messages. */
static unsigned char *source_of(const struct mg_state *state, int i)
{
    return i == 0 ? state->send : place_of(state, messages_of(state) + i - 1);
}

/* By what a byte of message i differs from that of the first one: by one of two bytes of i. */
static unsigned char change_of(int i, size_t at)
{
    return (unsigned char) (at % 2 == 0 ? i : i >> CHAR_BIT);
}

static void fill_sources(const struct mg_state *state)
{
    for (int i = 1; i < messages_of(state); i++)
        for (size_t at = 0; at < state->bytes; at++)
            source_of(state, i)[at] = state->send[at] ^ change_of(i, at);
}

static void reversed(struct mg_state *state);

/* The first message is right, or this would not be asked. */
static bool check(const struct mg_state *state, char *error, size_t error_bytes)
{
    for (int i = 1; state->mode->call == reversed && i < messages_of(state); i++)
        for (size_t at = 0; at < state->bytes; at++)
            if (place_of(state, i)[at] != (state->recv[at] ^ change_of(i, at))) {
                (void) snprintf(error, error_bytes,
                                "rank %d received at byte %zu of message %d what is not of it",
                                state->rank, at, i);
                return false;
            }
    return true;
}

static void post_all(const struct mg_state *state)
{
    for (int i = 0; i < messages_of(state); i++)
        MG_BYTES(MPI_Irecv, place_of(state, i), state->bytes, mg_other(state), FIRST_TAG + i,
                 state->comm, &own_of(state)->requests[i]);
}

static void send_all(const struct mg_state *state)
{
    for (int i = messages_of(state) - 1; i >= 0; i--)
        MG_BYTES(MPI_Send, source_of(state, i), state->bytes, mg_other(state), FIRST_TAG + i,
                 state->comm);
}

static void await_all(const struct mg_state *state)
{
    MG_MPI(MPI_Waitall(messages_of(state), own_of(state)->requests, MPI_STATUSES_IGNORE));
}

/* As in ping-pong's mode `ready`, each side posts its next receives before it sends. */
static void reversed_begin(struct mg_state *state)
{
    make_room(state);
    fill_sources(state);
    if (state->rank == 1) {
        post_all(state);
        mg_signal(state, 0);
    } else {
        mg_await(state, 1);
    }
}

static void reversed(struct mg_state *state)
{
    if (state->rank == 0) {
        post_all(state);
        send_all(state);
        await_all(state);
    } else {
        await_all(state);
        post_all(state);
        send_all(state);
    }
}

static void reversed_finish(struct mg_state *state)
{
    if (state->rank == 0)
        send_all(state);
    else
        await_all(state);
    free_room(state);
}

/* ---- What cannot be measured ----------------------------------------------------------------- */

static const char *refuse(const struct mg_mode *mode, const struct mg_state *state)
{
    const int *most  = NULL;
    int        known = 0;

    MG_MPI(MPI_Comm_get_attr(state->comm, MPI_TAG_UB, (void *) &most, &known));
    if (known && state->depth > *most - FIRST_TAG)
        return "this MPI library has fewer tags than the queue has entries";
    if (mode->depth_most == 0 || state->depth <= mode->depth_most)
        return NULL;
    if (!mode->message_each)
        return "more than 4096 messages that nobody receives may not fit into the library's memory";
    return "more than 1024 receives matched from their end would take seconds in every call";
}

/* A mode in which messages have arrived before they are received. */
#define ARRIVED(word, words, time, calls)   \
    {.name          = (word),               \
     .about         = (words),              \
     .time_of       = (time),               \
     .sampling      = &mg_sampling_arrived, \
     .begin         = fill_queue,           \
     .prepare       = let_arrive,           \
     .call          = (calls),              \
     .finish        = empty_queue,          \
     .trips         = 1,                    \
     .depth_most    = UNEXPECTED_MOST,      \
     .source        = mg_one_to_zero,       \
     .directions    = 1,                    \
     .binds_buffers = true,                 \
     .no_rate       = true,                 \
     .scratch       = MG_ONE_MESSAGE}

#define BEHIND_OTHERS ", behind messages of 1 B that nobody has received"

const struct mg_pattern mg_matching = {
    .name         = "matching",
    .about        = "messages that are matched behind a queue of a depth",
    .time_of      = "one way: half a round trip, or of a message of many that come in a row",
    .family       = MG_MESSAGE,
    .sampling     = &mg_sampling_chained,
    .min_ranks    = 2,
    .active_ranks = 2,
    .trips        = 2,
    .sizes_usual  = "8",
    .moves_bytes  = true,
    .queues       = true,
    .wire         = MG_ONE_MESSAGE,
    .refuse       = refuse,
    .check        = check,
    .modes        = MG_MODES(
        {.name       = "posted",
         .about      = "MPI_Recv behind posted receives of other tags",
         .begin      = post_queue,
         .call       = exact,
         .finish     = cancel_queue,
         .source     = mg_other,
         .directions = 1},
        ARRIVED("unexpected", "MPI_Recv of a message that has arrived" BEHIND_OTHERS,
                "MPI_Recv of a message that has arrived", receive),
        {.name       = "any-source",
         .about      = "MPI_Recv from MPI_ANY_SOURCE, behind posted receives",
         .begin      = post_queue,
         .call       = any_source,
         .finish     = cancel_queue,
         .source     = mg_other,
         .directions = 1},
        {.name       = "any-tag",
         .about      = "MPI_Recv of MPI_ANY_TAG, behind posted receives",
         .begin      = post_queue,
         .call       = any_tag,
         .finish     = cancel_queue,
         .source     = mg_other,
         .directions = 1},
        {.name       = "any",
         .about      = "MPI_Recv from MPI_ANY_SOURCE of MPI_ANY_TAG, behind posted "
                       "receives",
         .begin      = post_queue,
         .call       = any,
         .finish     = cancel_queue,
         .source     = mg_other,
         .directions = 1},
        ARRIVED("probe", "MPI_Probe and MPI_Recv of a message that has arrived" BEHIND_OTHERS,
                "MPI_Probe and MPI_Recv of a message that has arrived", probe),
        ARRIVED("mprobe", "MPI_Mprobe and MPI_Mrecv of a message that has arrived" BEHIND_OTHERS,
                "MPI_Mprobe and MPI_Mrecv of a message that has arrived", mprobe),
        {.name          = "reversed",
         .about         = "MPI_Irecv of as many messages, sent in reverse order: the "
                          "last receive is matched first",
         .begin         = reversed_begin,
         .call          = reversed,
         .finish        = reversed_finish,
         .source        = mg_other,
         .directions    = 1,
         .binds_buffers = true,
         .message_each  = true,
         .depth_most    = REVERSED_MOST,
         .scratch       = MG_TWO_MESSAGES}),
};
