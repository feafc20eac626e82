/* offset - hard bounds of the offset of two clocks from timestamped messages, and series of them to
 * estimate a drift from. */
#include "clock/offset.h"

#include "clock/clock.h"
#include "clock/global_clock.h"
#include "ranks/abort.h"
#include "ranks/groups.h"

enum {
    EXCHANGES     = 20, /* at most; fewer once a round trip is about as fast as the fastest */
    EXCHANGES_MIN = 8,
};

/* Time over which a drift is estimated at first: checks make the estimate better. */
static const int64_t fit_ns       = 100000000;
static const double  best_again   = 1.1;
static const int     stop_message = -1;

/* Both clocks are corrected as far as their models are known.  A message is received after it was
 * sent, so each timestamp of the reference lies between two readings of the client
 * (docs/method-collectives.md#one-clock-for-all-ranks, after SKaMPI). */
struct mg_bounds mg_offset_of(int reference)
{
    struct mg_bounds bounds     = {.low_ns = INT64_MIN, .high_ns = INT64_MAX};
    int64_t          best_ns    = INT64_MAX;
    int64_t          low_at_ns  = 0;
    int64_t          high_at_ns = 0;
    int              again      = 1;

    for (int i = 0; again; i++) {
        int64_t stamp_ns = 0;

        const int64_t sent_ns = mg_global_of(mg_now_ns());
        MG_MPI(MPI_Send(&again, 1, MPI_INT, reference, MG_TAG_CONTROL, MPI_COMM_WORLD));
        MG_MPI(MPI_Recv(&stamp_ns, 1, MPI_INT64_T, reference, MG_TAG_CONTROL, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
        const int64_t got_ns = mg_global_of(mg_now_ns());

        if (stamp_ns - got_ns > bounds.low_ns) {
            bounds.low_ns = stamp_ns - got_ns;
            low_at_ns     = got_ns;
        }
        if (stamp_ns - sent_ns < bounds.high_ns) {
            bounds.high_ns = stamp_ns - sent_ns;
            high_at_ns     = sent_ns;
        }
        const int64_t trip_ns = got_ns - sent_ns;
        const bool    met     = (double) trip_ns <= best_again * (double) best_ns;
        best_ns               = trip_ns < best_ns ? trip_ns : best_ns;
        again                 = i + 1 < EXCHANGES && !(i + 1 >= EXCHANGES_MIN && met);
    }
    MG_MPI(MPI_Send(&stop_message, 1, MPI_INT, reference, MG_TAG_CONTROL, MPI_COMM_WORLD));
    bounds.at_ns = low_at_ns + (high_at_ns - low_at_ns) / 2;
    return bounds;
}

/* Answers with its global time until the client sends stop_message. */
void mg_offset_answer(int client)
{
    for (;;) {
        int again = 0;

        MG_MPI(MPI_Recv(&again, 1, MPI_INT, client, MG_TAG_CONTROL, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
        if (again == stop_message)
            return;
        const int64_t stamp_ns = mg_global_of(mg_now_ns());
        MG_MPI(MPI_Send(&stamp_ns, 1, MPI_INT64_T, client, MG_TAG_CONTROL, MPI_COMM_WORLD));
    }
}

/* The first exchange waits until the reference is free, and for the connection; the second over
 * which the drift is estimated begins after it. */
void mg_clock_learn(int reference, struct mg_bounds *points)
{
    (void) mg_offset_of(reference);
    const int64_t begin_ns = mg_now_ns();

    for (int i = 0; i < MG_FIT_POINTS; i++) {
        while (mg_now_ns() < begin_ns + i * (fit_ns / MG_FIT_POINTS))
            ;
        points[i] = mg_offset_of(reference);
    }
}

void mg_clock_serve(int client, void (*heartbeat)(void))
{
    for (int i = 0; i < 1 + MG_FIT_POINTS; i++) {
        mg_offset_answer(client);
        heartbeat();
    }
}
