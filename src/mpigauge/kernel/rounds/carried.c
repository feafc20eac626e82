/* carried - what the cards of all hosts of a visit have carried while its operation was repeated.
 *
 * Cards are told one by one, by host: the few that carried most.  What is left out has carried no
 * more than the least of these, and the sums have all. */
#include "rounds/carried.h"

#include "ranks/abort.h"
#include "ranks/groups.h"
#include "rounds/neighbours.h"

#include <string.h>

enum { TOLD_MOST = 64 }; /* cards of all hosts together, whatever the size of the job */

static struct {
    struct mg_told_card told[TOLD_MOST]; /* who carried most is first */
    int                 count;
    int64_t             is_stale; /* cards of this host were not waited for */
} own;

/* ---- This host ------------------------------------------------------------------------------- */

void mg_carried_until_now(const struct mg_visit *visit, const struct mg_state *state, bool waits,
                          struct mg_carried *carried)
{
    if (mg_speaks_for_host(visit, state))
        mg_cards_read(carried, waits);
    else
        mg_cards_nothing(carried);
}

static int64_t both_ways(const struct mg_told_card *told)
{
    return told->card.carried.received_bytes + told->card.carried.sent_bytes;
}

/* Cards that are not counted any more come first, then those that carried more; the rest is for one
 * order whoever meets whom first. */
static bool comes_before(const struct mg_told_card *one, const struct mg_told_card *other)
{
    if (one->card.is_counted != other->card.is_counted)
        return !one->card.is_counted;
    if (both_ways(one) != both_ways(other))
        return both_ways(one) > both_ways(other);
    if (one->rank != other->rank)
        return one->rank < other->rank;
    return strcmp(one->card.name, other->card.name) < 0;
}

static void add(const struct mg_told_card *told)
{
    int place = own.count;

    while (place > 0 && comes_before(told, &own.told[place - 1]))
        place--;
    if (place == TOLD_MOST)
        return;
    if (own.count < TOLD_MOST)
        own.count++;
    memmove(&own.told[place + 1], &own.told[place],
            (size_t) (own.count - 1 - place) * sizeof *own.told);
    own.told[place] = *told;
}

static void tell_each(const struct mg_each_card *each, int rank)
{
    own.count = 0;
    for (int i = 0; i < each->count; i++) {
        const struct mg_told_card told = {.rank = rank, .card = each->cards[i]};

        if (!told.card.is_counted || both_ways(&told) > 0)
            add(&told);
    }
}

void mg_carried_since(const struct mg_visit *visit, const struct mg_state *state, bool waits,
                      const struct mg_carried *earlier, struct mg_outcome *outcome)
{
    struct mg_carried carried;

    mg_carried_until_now(visit, state, waits, &carried);
    mg_cards_since(earlier, &carried);
    own.is_stale = carried.is_stale;
    tell_each(&carried.each, mg_world_rank(visit, state->rank));
    outcome->ip_received_bytes   = carried.ip.received_bytes;
    outcome->ip_sent_bytes       = carried.ip.sent_bytes;
    outcome->rdma_received_bytes = carried.rdma.received_bytes;
    outcome->rdma_sent_bytes     = carried.rdma.sent_bytes;
    outcome->uncounted_cards     = carried.uncounted;
}

/* ---- All hosts ------------------------------------------------------------------------------- */

static void add_from(const struct mg_state *state, int rank)
{
    struct mg_told_card theirs[TOLD_MOST];
    MPI_Status          status;
    int                 bytes = 0;

    MG_MPI(MPI_Recv(theirs, (int) sizeof theirs, MPI_BYTE, rank, MG_TAG_CONTROL, state->comm,
                    &status));
    MG_MPI(MPI_Get_count(&status, MPI_BYTE, &bytes));
    for (int i = 0; i < bytes / (int) sizeof *theirs; i++)
        add(&theirs[i]);
}

/* Up a binomial tree: a message for every doubling of the ranks, none of them longer than what is
 * told. */
static void gather(const struct mg_state *state)
{
    for (int distance = 1; distance < state->ranks; distance *= 2) {
        if (state->rank % (2 * distance) != 0) {
            MG_MPI(MPI_Send(own.told, own.count * (int) sizeof *own.told, MPI_BYTE,
                            state->rank - distance, MG_TAG_CONTROL, state->comm));
            return;
        }
        if (state->rank + distance < state->ranks)
            add_from(state, state->rank + distance);
    }
}

/* Of rank 0's host, received or sent if that is more: on one host both are the same, but of a
 * stream from here to another host only the acknowledgements come back. */
static int64_t more_of_both(const struct mg_outcome *outcome)
{
    return outcome->ip_received_bytes > outcome->ip_sent_bytes ? outcome->ip_received_bytes
                                                               : outcome->ip_sent_bytes;
}

static void add_sums(const struct mg_state *state, struct mg_outcome *outcome)
{
    enum { IP_RECEIVED, IP_SENT, RDMA_RECEIVED, RDMA_SENT, UNCOUNTED, STALE, COUNTS };
    const int64_t here[COUNTS] = {
        [IP_RECEIVED] = outcome->ip_received_bytes,     [IP_SENT] = outcome->ip_sent_bytes,
        [RDMA_RECEIVED] = outcome->rdma_received_bytes, [RDMA_SENT] = outcome->rdma_sent_bytes,
        [UNCOUNTED] = outcome->uncounted_cards,         [STALE] = own.is_stale,
    };
    int64_t all[COUNTS] = {0};

    MG_MPI(MPI_Reduce(here, all, COUNTS, MPI_INT64_T, MPI_SUM, 0, state->comm));
    outcome->ip_received_bytes   = all[IP_RECEIVED];
    outcome->ip_sent_bytes       = all[IP_SENT];
    outcome->rdma_received_bytes = all[RDMA_RECEIVED];
    outcome->rdma_sent_bytes     = all[RDMA_SENT];
    outcome->uncounted_cards     = all[UNCOUNTED];
    if (all[STALE] > 0)
        outcome->net_calls = 0;
}

void mg_carried_tell(const struct mg_visit *visit, const struct mg_state *state,
                     struct mg_outcome *outcome)
{
    outcome->net_bytes = more_of_both(outcome);
    add_sums(state, outcome);
    if (mg_far_rank(visit, state) > 0)
        gather(state);
    outcome->by_card = (mg_cards){own.told, own.count};
}
