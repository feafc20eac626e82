/* crossing - times messages around the eager limit in turn.
 *
 * What moves slowly (the clock of the cores, other programs) meets all four sizes alike, so that
 * their differences within a launch are of the sizes alone. */
#include "probe/crossing.h"

#include "clock/clock.h"
#include "patterns/registry.h"
#include "ranks/groups.h"

enum {
    WARM_UP    = 3,
    ROUNDS_MIN = 5,
};

static const int64_t limit_ns = 100000000; /* for all rounds, unless the fewest take longer */

static int64_t round_trip_ns(const struct mg_mode *mode, struct mg_state *state, size_t bytes)
{
    state->bytes           = bytes;
    const int64_t begin_ns = mg_now_ns();
    mode->call(state);
    return mg_since_ns(begin_ns);
}

/* A round trip of each size; every other round in reverse, so that each size follows both of its
 * neighbours. */
static void time_round(const struct mg_mode *mode, struct mg_state *state, const size_t *sizes,
                       int round, struct mg_crossing *crossing)
{
    for (int i = 0; i < MG_CROSSING_SIZES; i++) {
        const int size = round % 2 == 0 ? i : MG_CROSSING_SIZES - 1 - i;

        crossing->samples_ns[size][round] = round_trip_ns(mode, state, sizes[size]);
    }
}

/* As many rounds as fit the time, by the last round of the warm-up. */
static int rounds_within(const struct mg_crossing *warm_up)
{
    int64_t round_ns = 1;

    for (int size = 0; size < MG_CROSSING_SIZES; size++)
        round_ns += warm_up->samples_ns[size][WARM_UP - 1];
    if (limit_ns / round_ns > MG_CROSSING_ROUNDS_MAX)
        return MG_CROSSING_ROUNDS_MAX;
    return limit_ns / round_ns < ROUNDS_MIN ? ROUNDS_MIN : (int) (limit_ns / round_ns);
}

struct mg_crossing mg_crossing_time(struct mg_state *state, int64_t limit_bytes,
                                    void (*heartbeat)(void))
{
    struct mg_crossing    crossing = {0};
    const struct mg_mode *mode     = &mg_pattern_find("pingpong")->modes[0];
    const size_t          before   = state->bytes;
    const size_t          at       = (size_t) limit_bytes;

    if (limit_bytes < MG_CROSSING_APART)
        return crossing;
    const size_t sizes[MG_CROSSING_SIZES] = {
        [MG_AT_LIMIT]    = at,
        [MG_ABOVE_LIMIT] = at + 1,
        [MG_BELOW_LIMIT] = at - MG_CROSSING_APART,
        [MG_BELOW_ODD]   = at - MG_CROSSING_APART + 1,
    };

    mg_handshake(state->comm);
    for (int round = 0; round < WARM_UP; round++)
        time_round(mode, state, sizes, round, &crossing);
    int rounds = rounds_within(&crossing);
    mg_broadcast(state->comm, &rounds, sizeof rounds);
    mg_handshake(state->comm);
    for (int round = 0; round < rounds; round++) {
        time_round(mode, state, sizes, round, &crossing);
        heartbeat();
    }
    mg_handshake(state->comm);
    crossing.rounds = rounds;
    state->bytes    = before;
    return crossing;
}
