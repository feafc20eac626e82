/* eager_probe - finds the largest message that completes although it is not received, to the byte.
 *
 * Both ranks send and poll, both then signal that they have stopped polling, and only then both
 * receive: no wait depends on the outcome, so nothing can hang.  Both ranks do the same, since a
 * peer outside MPI would give other results. */
#include "probe/eager_probe.h"

#include "clock/clock.h"
#include "patterns/calls.h"
#include "ranks/abort.h"
#include "ranks/groups.h"

enum {
    REPEATS = 3, /* odd, for a majority */
};

static const int64_t poll_min_ns  = 5000000;
static const int64_t poll_long_ns = 60000000; /* a limit that grows with it is slow copying only */
static const int64_t poll_last_ns = 1000000000;

struct prober {
    const struct mg_state *state;
    unsigned char         *send;
    unsigned char         *recv;
    int64_t                poll_ns;
    bool                   synchronous;
    int                    probes;
    void (*heartbeat)(void);
};

static void post_send(const struct prober *prober, size_t bytes, int peer, MPI_Request *request)
{
    if (prober->synchronous)
        MG_BYTES(MPI_Issend, prober->send, bytes, peer, MG_TAG, prober->state->comm, request);
    else
        MG_BYTES(MPI_Isend, prober->send, bytes, peer, MG_TAG, prober->state->comm, request);
}

/* The analyser loses sight of requests that MPI_Waitall takes as an array.
 * NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker) */

/* Whether the sends complete on both ranks before they are received. */
static bool completes_once(struct prober *prober, size_t bytes)
{
    const struct mg_state *state = prober->state;
    const int              peer  = 1 - state->rank;
    MPI_Request            requests[2];
    int                    done = 0;

    mg_handshake(state->comm);
    const int64_t until_ns = mg_now_ns() + prober->poll_ns;
    post_send(prober, bytes, peer, &requests[0]);
    do {
        MG_MPI(MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE));
    } while (!done && mg_now_ns() < until_ns);

    mg_handshake(state->comm); /* both have stopped polling */
    MG_BYTES(MPI_Irecv, prober->recv, bytes, peer, MG_TAG, state->comm, &requests[1]);
    MG_MPI(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    prober->probes++;
    prober->heartbeat();
    return mg_all_true(state->comm, done);
}

static bool completes(struct prober *prober, size_t bytes)
{
    int yes = 0;
    int no  = 0;

    while (yes <= REPEATS / 2 && no <= REPEATS / 2)
        completes_once(prober, bytes) ? yes++ : no++;
    return yes > no;
}

/* How long to poll: at least 5 ms, and 50 times what the message takes when it is received. */
static int64_t polling_time(const struct mg_state *state, struct prober *prober, size_t bytes)
{
    const int peer = 1 - state->rank;
    int64_t   poll_ns;

    mg_handshake(state->comm);
    const int64_t start_ns = mg_now_ns();
    MPI_Request   requests[2];
    MG_BYTES(MPI_Irecv, prober->recv, bytes, peer, MG_TAG, state->comm, &requests[0]);
    MG_BYTES(MPI_Isend, prober->send, bytes, peer, MG_TAG, state->comm, &requests[1]);
    MG_MPI(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    poll_ns = 50 * (mg_now_ns() - start_ns);
    if (poll_ns < poll_min_ns)
        poll_ns = poll_min_ns;
    if (poll_ns > poll_last_ns)
        poll_ns = poll_last_ns;
    mg_broadcast(state->comm, &poll_ns, sizeof poll_ns);
    return poll_ns;
}

/* NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker) */

/* The largest size that completes, given that `low` does and `high` does not. */
static size_t bisect(struct prober *prober, size_t low, size_t high)
{
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;

        if (completes(prober, middle))
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Doubles until a size does not complete; returns it, or 0 if all of them do. */
static size_t first_refusal(struct prober *prober, size_t max_bytes, size_t *complete_p)
{
    for (size_t bytes = 1;; bytes = 2 * bytes < max_bytes ? 2 * bytes : max_bytes) {
        prober->poll_ns = polling_time(prober->state, prober, bytes);
        if (!completes(prober, bytes))
            return bytes;
        *complete_p = bytes;
        if (bytes == max_bytes)
            return 0;
    }
}

static bool control_holds(struct prober *prober, size_t limit)
{
    bool held;

    prober->synchronous = true;
    held = !completes_once(prober, 1) && !completes_once(prober, limit > 0 ? limit : 1);
    prober->synchronous = false;
    return held;
}

/* The limit with much longer polling: a message one byte larger must still not complete.  If it
 * does, the library keeps copying without a receiver. */
static size_t limit_with_longer_polling(struct prober *prober, size_t limit, size_t max_bytes)
{
    prober->poll_ns = prober->poll_ns > poll_long_ns / 10 ? 10 * prober->poll_ns : poll_long_ns;
    if (prober->poll_ns > poll_last_ns)
        prober->poll_ns = poll_last_ns;
    if (!completes(prober, limit + 1))
        return limit;
    prober->poll_ns = poll_last_ns;
    return completes_once(prober, max_bytes) ? max_bytes : limit + 1;
}

struct mg_eager mg_eager_probe(const struct mg_state *state, size_t max_bytes,
                               void (*heartbeat)(void))
{
    struct prober prober = {
        .state = state, .send = state->send, .recv = state->recv, .heartbeat = heartbeat};
    size_t       complete = 0;
    const size_t refusal  = first_refusal(&prober, max_bytes, &complete);
    const size_t limit    = refusal == 0 ? max_bytes : bisect(&prober, complete, refusal);
    const size_t longer =
        refusal == 0 ? max_bytes : limit_with_longer_polling(&prober, limit, max_bytes);

    return (struct mg_eager){
        .known        = true,
        .found        = refusal != 0 && longer == limit,
        .limit_bytes  = (int64_t) limit,
        .longer_bytes = (int64_t) longer,
        .max_bytes    = (int64_t) max_bytes,
        .control_held = control_holds(&prober, limit),
        .probes       = prober.probes,
    };
}
