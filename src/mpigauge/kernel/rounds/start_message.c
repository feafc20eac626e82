/* start_message - the message that starts a round, and how long before the start it is sent: its
 * lead (docs/method-collectives.md#a-round). */
#include "rounds/start_message.h"

#include "clock/clock.h"
#include "clock/global_clock.h"
#include "ranks/abort.h"
#include "ranks/groups.h"
#include "ranks/oversubscribed.h"

#include <stdlib.h>

enum {
    LEAD_TRIALS = 5,
    LEAD_FACTOR = 3,
    LATE_ONE_IN = 10, /* with more late messages the series is repeated with a longer lead */
};

static const int64_t margin_ns     = 3000; /* beside the time of the message */
static const int64_t lead_least_ns = 4000;
static const int64_t lead_most_ns  = 50000000; /* later ranks are not waited for */

struct lead {
    int     key; /* of the ranks that start together */
    int64_t lead_ns;
};

static struct {
    struct lead *leads;
    int          count;
} own;

void mg_start_message_spread(const struct mg_state *state, struct mg_start_message *message)
{
    const struct mg_starters *all  = &state->starters;
    int                       mask = 1;

    while (mask < all->ranks && (all->rank & mask) == 0)
        mask *= 2;
    if (all->rank != 0)
        MG_MPI(MPI_Recv(message, (int) sizeof *message, MPI_BYTE, all->rank - mask, MG_TAG_CONTROL,
                        all->comm, MPI_STATUS_IGNORE));
    for (mask /= 2; mask > 0; mask /= 2)
        if (all->rank + mask < all->ranks)
            MG_MPI(MPI_Send(message, (int) sizeof *message, MPI_BYTE, all->rank + mask,
                            MG_TAG_CONTROL, all->comm));
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

        mg_handshake(state->starters.comm);
        message.start_ns = global_now_ns();
        mg_start_message_spread(state, &message);
        times_ns[i] = global_now_ns() - message.start_ns;
    }
    const int64_t median_ns = mg_median_of(times_ns, LEAD_TRIALS);
    MG_MPI(MPI_Allreduce(&median_ns, &slowest_ns, 1, MPI_INT64_T, MPI_MAX, state->starters.comm));
    return LEAD_FACTOR * slowest_ns + margin_ns;
}

static void add_lead(int key)
{
    struct lead *more = realloc(own.leads, ((size_t) own.count + 1) * sizeof *more);

    if (more == NULL)
        MG_DIE("no memory for the leads of %d groups", own.count + 1);
    own.leads              = more;
    own.leads[own.count++] = (struct lead){.key = key};
}

void mg_leads_free(void)
{
    free(own.leads);
    own.leads = NULL;
    own.count = 0;
}

/* Measured anew for every series, since one bad moment would give all later rounds a long lead; but
 * where ranks wait for their cores it is adapted from series to series only. */
int64_t *mg_lead_of(const struct mg_visit *visit, const struct mg_state *state)
{
    const int key = state->starters.key;
    int       i   = 0;

    while (i < own.count && own.leads[i].key != key)
        i++;
    const bool is_new = i == own.count;
    if (is_new)
        add_lead(key);
    if (is_new || !mg_oversubscribed_anywhere(visit))
        own.leads[i].lead_ns = measure_lead(state);
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
    mg_broadcast(state->starters.comm, &lead_ns, sizeof lead_ns);
    return lead_ns;
}
