/* start_message - the message that starts a round, and how long before the start it is sent: its
 * lead (docs/method-collectives.md#a-round). */
#include "rounds/start_message.h"

#include "clock/clock.h"
#include "clock/global_clock.h"
#include "ranks/abort.h"
#include "ranks/groups.h"
#include "ranks/oversubscribed.h"

enum {
    LEAD_TRIALS = 5,
    LEAD_FACTOR = 3,
    LATE_ONE_IN = 10, /* with more late messages the series is repeated with a longer lead */
    MAX_GROUPS  = 64,
};

static const int64_t margin_ns     = 3000; /* beside the time of the message */
static const int64_t lead_least_ns = 4000;
static const int64_t lead_most_ns  = 50000000; /* later ranks are not waited for */

static struct {
    struct {
        int     ranks;
        int64_t lead_ns;
    } leads[MAX_GROUPS];
} own;

void mg_start_message_spread(const struct mg_state *state, struct mg_start_message *message)
{
    int mask = 1;

    while (mask < state->ranks && (state->rank & mask) == 0)
        mask *= 2;
    if (state->rank != 0)
        MG_MPI(MPI_Recv(message, (int) sizeof *message, MPI_BYTE, state->rank - mask,
                        MG_TAG_CONTROL, state->comm, MPI_STATUS_IGNORE));
    for (mask /= 2; mask > 0; mask /= 2)
        if (state->rank + mask < state->ranks)
            MG_MPI(MPI_Send(message, (int) sizeof *message, MPI_BYTE, state->rank + mask,
                            MG_TAG_CONTROL, state->comm));
}

static int64_t global_now_ns(void)
{
    return mg_global_of(mg_now_ns());
}

/* Three times what the message takes to the slowest rank, and time to read the CPU clock. */
static int64_t measure_lead(const struct mg_state *state)
{
    int64_t times_ns[LEAD_TRIALS];
    int64_t slowest_ns = 0;

    for (int i = 0; i < LEAD_TRIALS; i++) {
        struct mg_start_message message = {0};

        mg_handshake(state->comm);
        message.start_ns = global_now_ns();
        mg_start_message_spread(state, &message);
        times_ns[i] = global_now_ns() - message.start_ns;
    }
    const int64_t median_ns = mg_median_of(times_ns, LEAD_TRIALS);
    MG_MPI(MPI_Allreduce(&median_ns, &slowest_ns, 1, MPI_INT64_T, MPI_MAX, state->comm));
    return LEAD_FACTOR * slowest_ns + margin_ns;
}

/* Measured anew for every series, since one bad moment would give all later rounds a long lead; but
 * where ranks wait for their cores it is adapted from series to series only. */
int64_t *mg_lead_of(const struct mg_visit *visit, const struct mg_state *state)
{
    int i = 0;

    while (i < MAX_GROUPS - 1 && own.leads[i].ranks != 0 && own.leads[i].ranks != state->ranks)
        i++;
    if (own.leads[i].ranks != state->ranks || !mg_oversubscribed_anywhere(visit)) {
        own.leads[i].ranks   = state->ranks;
        own.leads[i].lead_ns = measure_lead(state);
    }
    return &own.leads[i].lead_ns;
}

int64_t mg_lead_next(const struct mg_visit *visit, const struct mg_state *state,
                     const struct mg_rounds *rounds, int64_t limit_ns)
{
    int64_t lead_ns = rounds->lead_ns;

    if (visit->start != MG_START_COMMON)
        return lead_ns;
    if (rounds->late_message_count * LATE_ONE_IN > rounds->count && rounds->elapsed_ns < limit_ns)
        lead_ns = 2 * lead_ns < lead_most_ns ? 2 * lead_ns : lead_most_ns;
    else if (rounds->late_message_count == 0 && rounds->count >= LATE_ONE_IN)
        lead_ns = 3 * lead_ns / 4 > lead_least_ns ? 3 * lead_ns / 4 : lead_least_ns;
    mg_broadcast(state->comm, &lead_ns, sizeof lead_ns);
    return lead_ns;
}
