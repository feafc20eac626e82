/* timed_rounds - series of rounds on rank 0 of a machine that is made up: its clock is a number,
 * what calls take is known, and the other ranks are not there.
 *
 * `acked`: of each turn every third sample is disturbed, in no two turns the same one, and turn 2
 * is slower than the others.  `fast`: a call takes less than half an empty round trip.  Both print
 * the samples.  `common`: this rank is done with a round long before the last one is; prints, after
 * two series of one visit, for each round how long after its start this rank sends again. */
#include "clock/clock.h"
#include "clock/global_clock.h"
#include "memory/payload.h"
#include "ranks/groups.h"
#include "rounds/common_start.h"
#include "rounds/rounds.h"
#include "rounds/samples.h"
#include "rounds/stamps.h"
#include "rounds/start_message.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    READING_NS   = 20,
    TRIP_NS      = 400,
    CALL_NS      = 1000,
    SLOW_TURN    = 2,
    SLOWER_NS    = 500,
    DISTURBED_NS = 100000,
    DISTURBED    = 3, /* one in so many samples */
    LAST_NS      = 5000,
    BATCH        = 2,
    ROUNDS       = 30,
    RANKS        = 4,
};

clockid_t mg_clock_id = CLOCK_MONOTONIC;

static struct {
    int64_t now_ns;
    int64_t call_ns;
    bool    disturbed;
    int     calls; /* of this turn */
    int64_t begun_ns;
    bool    prints;
} fake = {.now_ns = 1000000, .call_ns = CALL_NS};

int clock_gettime(clockid_t clock, struct timespec *time)
{
    (void) clock;
    fake.now_ns += READING_NS;
    *time =
        (struct timespec){.tv_sec = fake.now_ns / 1000000000, .tv_nsec = fake.now_ns % 1000000000};
    return 0;
}

int64_t mg_cpu_ns(void)
{
    return fake.now_ns;
}

int64_t mg_global_of(int64_t local_ns)
{
    return local_ns;
}

int64_t mg_local_of(int64_t global_ns)
{
    return global_ns;
}

bool mg_oversubscribed_here(const struct mg_visit *visit)
{
    (void) visit;
    return false;
}

bool mg_oversubscribed_anywhere(const struct mg_visit *visit)
{
    (void) visit;
    return false;
}

/* What this rank sends when it is done, and what ends a turn. */
void mg_handshake(MPI_Comm comm)
{
    (void) comm;
    if (fake.prints && fake.begun_ns > 0)
        (void) printf("%" PRId64 "\n", fake.now_ns - fake.begun_ns);
    fake.begun_ns = 0;
    fake.calls    = 0;
}

void mg_start_message_spread(const struct mg_state *state, struct mg_start_message *word)
{
    (void) state;
    (void) word;
}

int64_t *mg_lead_of(const struct mg_visit *visit, const struct mg_state *state)
{
    (void) visit;
    static int64_t lead_ns = 10000;

    (void) state;
    return &lead_ns;
}

void mg_leads_free(void)
{
}

int64_t mg_lead_next(const struct mg_visit *visit, const struct mg_state *state,
                     const struct mg_rounds *rounds, int64_t limit_ns)
{
    (void) visit;
    (void) state;
    (void) limit_ns;
    return rounds->lead_ns;
}

/* The last rank of all is done later than this one. */
void mg_stamps_collect(const struct mg_stamps *series, const struct mg_visit *visit,
                       const struct mg_state *state, int first_root, struct mg_rounds *rounds)
{
    (void) visit;
    (void) state;
    (void) first_root;
    rounds->count = series->count;
    for (int i = 0; i < series->count; i++)
        rounds->samples_ns[i] = LAST_NS;
}

static void call(struct mg_state *state)
{
    const int sample = fake.calls++ / BATCH;

    if (fake.begun_ns == 0)
        fake.begun_ns = fake.now_ns;
    fake.now_ns += fake.call_ns;
    if (fake.disturbed && state->turn == SLOW_TURN)
        fake.now_ns += SLOWER_NS;
    if (fake.disturbed && sample % DISTURBED == state->turn - 1)
        fake.now_ns += DISTURBED_NS;
}

static void empty_round_trip(struct mg_state *state)
{
    (void) state;
    fake.now_ns += TRIP_NS;
}

static void alive(void)
{
}

static void print_samples(const struct mg_rounds *rounds)
{
    for (int i = 0; i < rounds->count; i++)
        (void) printf("%" PRId64 "\n", rounds->samples_ns[i]);
}

int main(int argc, char **argv)
{
    const char       *what    = argc > 1 ? argv[1] : "";
    struct mg_mode    mode    = {.call = call};
    struct mg_pattern pattern = {.baseline = empty_round_trip};
    struct mg_visit   visit   = {.ranks = RANKS, .pattern = &pattern, .mode = &mode};
    struct mg_state   state   = {.ranks = RANKS};
    struct mg_walk    walk    = {.slots = 1};
    struct mg_rounds  rounds;

    mg_rounds_make(&rounds, ROUNDS, alive);
    fake.disturbed = strcmp(what, "acked") == 0;
    fake.call_ns   = strcmp(what, "fast") == 0 ? TRIP_NS / 4 : CALL_NS;
    if (strcmp(what, "common") != 0) {
        mg_rounds_acked(&visit, &state, &walk, BATCH, ROUNDS, MG_TIME_MAX_NS, &rounds);
        print_samples(&rounds);
        return EXIT_SUCCESS;
    }
    fake.prints = true;
    for (int series = 0; series < 2; series++)
        mg_rounds_common(&visit, &state, &walk, 1, ROUNDS, MG_TIME_MAX_NS, &rounds);
    return EXIT_SUCCESS;
}
