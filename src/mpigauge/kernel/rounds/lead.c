/* lead - the word that starts a round, and how long before the start it is sent
 * (docs/method-collectives.md#a-round). */
#include "rounds/lead.h"

#include "clock/clock.h"
#include "clock/global_clock.h"
#include "ranks/abort.h"
#include "ranks/crowding.h"
#include "ranks/groups.h"

enum {
    LEAD_TRIALS = 5,
    LEAD_FACTOR = 3,
    LATE_ONE_IN = 10, /* more rounds told too late than that: a longer lead, and once more */
    MAX_GROUPS  = 64,
};

static const int64_t margin_ns     = 3000; /* beside what the word needs */
static const int64_t lead_least_ns = 4000;
static const int64_t lead_most_ns = 50000000; /* a rank that is later than that is not waited for */

static struct {
    struct {
        int     ranks;
        int64_t lead_ns;
    } leads[MAX_GROUPS];
} own;

void mg_word_spread(const struct mg_state *state, struct mg_word *word)
{
    int mask = 1;

    while (mask < state->ranks && (state->rank & mask) == 0)
        mask *= 2;
    if (state->rank != 0)
        MG_MPI(MPI_Recv(word, (int) sizeof *word, MPI_BYTE, state->rank - mask, MG_TAG_CONTROL,
                        state->comm, MPI_STATUS_IGNORE));
    for (mask /= 2; mask > 0; mask /= 2)
        if (state->rank + mask < state->ranks)
            MG_MPI(MPI_Send(word, (int) sizeof *word, MPI_BYTE, state->rank + mask, MG_TAG_CONTROL,
                            state->comm));
}

static int64_t global_now_ns(void)
{
    return mg_global_of(mg_now_ns());
}

/* Three times what the word needs to the slowest rank, and time to read the CPU clock. */
static int64_t measure_lead(const struct mg_state *state)
{
    int64_t times_ns[LEAD_TRIALS];
    int64_t slowest_ns = 0;

    for (int i = 0; i < LEAD_TRIALS; i++) {
        struct mg_word word = {0};

        mg_handshake(state->comm);
        word.start_ns = global_now_ns();
        mg_word_spread(state, &word);
        times_ns[i] = global_now_ns() - word.start_ns;
    }
    const int64_t median_ns = mg_median_of(times_ns, LEAD_TRIALS);
    MG_MPI(MPI_Allreduce(&median_ns, &slowest_ns, 1, MPI_INT64_T, MPI_MAX, state->comm));
    return LEAD_FACTOR * slowest_ns + margin_ns;
}

/* Measured anew for every series, since one bad moment would make all rounds after it long; but not
 * where ranks wait for their cores: there it is learned from the rounds themselves. */
int64_t *mg_lead_of(const struct mg_visit *visit, const struct mg_state *state)
{
    int i = 0;

    while (i < MAX_GROUPS - 1 && own.leads[i].ranks != 0 && own.leads[i].ranks != state->ranks)
        i++;
    if (own.leads[i].ranks != state->ranks || !mg_crowded_anywhere(visit)) {
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
    if (rounds->told_late_count * LATE_ONE_IN > rounds->count && rounds->elapsed_ns < limit_ns)
        lead_ns = 2 * lead_ns < lead_most_ns ? 2 * lead_ns : lead_most_ns;
    else if (rounds->told_late_count == 0 && rounds->count >= LATE_ONE_IN)
        lead_ns = 3 * lead_ns / 4 > lead_least_ns ? 3 * lead_ns / 4 : lead_least_ns;
    mg_share(state->comm, &lead_ns, sizeof lead_ns);
    return lead_ns;
}
