/* visit_traffic - traffic of the network cards of all hosts during a visit.
 *
 * Only the cards with the most traffic are listed; the sums have all cards. */
#include "traffic/visit_traffic.h"

#include "machine/neighbours.h"
#include "ranks/abort.h"
#include "ranks/groups.h"

#include <string.h>

enum { LISTED_MAX = 64 }; /* cards of all hosts together */

static struct {
    struct mg_listed_card listed[LISTED_MAX]; /* most traffic first */
    int                   count;
    int64_t               is_stale; /* cached counters of this host were not waited for */
} own;

/* ---- This host ------------------------------------------------------------------------------- */

void mg_visit_traffic_begin(const struct mg_visit *visit, const struct mg_state *state, bool waits,
                            struct mg_card_reading *reading)
{
    if (mg_speaks_for_host(visit, state))
        mg_cards_read(reading, waits);
    else
        mg_cards_clear(reading);
}

static int64_t both_directions(const struct mg_listed_card *card)
{
    return card->card.traffic.received_bytes + card->card.traffic.sent_bytes;
}

/* Cards that are not counted any more come first, then those with more traffic.  Rank and name make
 * the order unique. */
static bool comes_before(const struct mg_listed_card *one, const struct mg_listed_card *other)
{
    if (one->card.is_counted != other->card.is_counted)
        return !one->card.is_counted;
    if (both_directions(one) != both_directions(other))
        return both_directions(one) > both_directions(other);
    if (one->rank != other->rank)
        return one->rank < other->rank;
    return strcmp(one->card.name, other->card.name) < 0;
}

static void add(const struct mg_listed_card *card)
{
    int place = own.count;

    while (place > 0 && comes_before(card, &own.listed[place - 1]))
        place--;
    if (place == LISTED_MAX)
        return;
    if (own.count < LISTED_MAX)
        own.count++;
    memmove(&own.listed[place + 1], &own.listed[place],
            (size_t) (own.count - 1 - place) * sizeof *own.listed);
    own.listed[place] = *card;
}

static void list_cards(const struct mg_card_list *each, int rank)
{
    own.count = 0;
    for (int i = 0; i < each->count; i++) {
        const struct mg_listed_card card = {.rank = rank, .card = each->cards[i]};

        if (!card.card.is_counted || both_directions(&card) > 0)
            add(&card);
    }
}

void mg_visit_traffic_end(const struct mg_visit *visit, const struct mg_state *state, bool waits,
                          const struct mg_card_reading *earlier, struct mg_outcome *outcome)
{
    struct mg_card_reading reading;

    mg_visit_traffic_begin(visit, state, waits, &reading);
    mg_cards_subtract(earlier, &reading);
    own.is_stale = reading.is_stale;
    list_cards(&reading.each, mg_world_rank(visit, state->rank));
    outcome->ip_received_bytes   = reading.ip.received_bytes;
    outcome->ip_sent_bytes       = reading.ip.sent_bytes;
    outcome->rdma_received_bytes = reading.rdma.received_bytes;
    outcome->rdma_sent_bytes     = reading.rdma.sent_bytes;
    outcome->uncounted_cards     = reading.uncounted;
}

/* ---- All hosts ------------------------------------------------------------------------------- */

static void add_from(const struct mg_state *state, int rank)
{
    struct mg_listed_card theirs[LISTED_MAX];
    MPI_Status            status;
    int                   bytes = 0;

    MG_MPI(MPI_Recv(theirs, (int) sizeof theirs, MPI_BYTE, rank, MG_TAG_CONTROL, state->comm,
                    &status));
    MG_MPI(MPI_Get_count(&status, MPI_BYTE, &bytes));
    for (int i = 0; i < bytes / (int) sizeof *theirs; i++)
        add(&theirs[i]);
}

/* Along a binomial tree, with messages no longer than the list. */
static void gather(const struct mg_state *state)
{
    for (int distance = 1; distance < state->ranks; distance *= 2) {
        if (state->rank % (2 * distance) != 0) {
            MG_MPI(MPI_Send(own.listed, own.count * (int) sizeof *own.listed, MPI_BYTE,
                            state->rank - distance, MG_TAG_CONTROL, state->comm));
            return;
        }
        if (state->rank + distance < state->ranks)
            add_from(state, state->rank + distance);
    }
}

/* Bytes received or sent, whichever is more: on one host both are equal, but a stream to another
 * host returns acknowledgements only. */
static int64_t larger_direction(const struct mg_outcome *outcome)
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

void mg_visit_traffic_gather(const struct mg_visit *visit, const struct mg_state *state,
                             struct mg_outcome *outcome)
{
    outcome->net_bytes = larger_direction(outcome);
    add_sums(state, outcome);
    if (mg_far_rank(visit, state) > 0)
        gather(state);
    outcome->by_card = (mg_cards){own.listed, own.count};
}
