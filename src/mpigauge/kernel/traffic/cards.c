/* cards - traffic of all network cards of this host, which shows how messages travelled. */
#include "traffic/cards.h"

#include "traffic/card_facts.h"
#include "traffic/interfaces.h"
#include "traffic/rdma_cards.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static struct {
    bool is_open;
    char root[PATH_MAX];
} own;

void mg_cards_open(const char *root)
{
    mg_interfaces_open(root);
    mg_rdma_open(root);
    (void) snprintf(own.root, sizeof own.root, "%s", root);
    own.is_open = true;
}

static void open_once(void)
{
    if (!own.is_open)
        mg_cards_open("");
}

void mg_cards_free(void)
{
    mg_interfaces_close();
    mg_rdma_close();
    own.is_open = false;
}

int mg_cards_list(struct mg_card *cards)
{
    open_once();
    /* RDMA first: a host may have more interfaces than there is room for. */
    const int rdma  = mg_rdma_list(cards, MG_CARDS_MAX);
    const int count = rdma + mg_interfaces_list(cards + rdma, MG_CARDS_MAX - rdma);

    for (int i = 0; i < count; i++)
        mg_card_facts_add(own.root, &cards[i]);
    return count;
}

void mg_cards_clear(struct mg_card_reading *reading)
{
    reading->ip = reading->rdma = (struct mg_traffic){0};
    reading->uncounted          = 0;
    reading->is_stale           = 0;
    reading->each.count         = 0; /* the elements need no clearing */
}

void mg_cards_read(struct mg_card_reading *reading, bool waits)
{
    open_once();
    mg_cards_clear(reading);
    if (!waits && mg_rdma_lifespan_ms() > 0) {
        reading->is_stale = 1;
        return;
    }
    reading->uncounted = mg_rdma_read(&reading->rdma, &reading->each);
    reading->uncounted += !mg_interfaces_read(&reading->ip, &reading->each);
}

void mg_cards_read_ip(struct mg_card_reading *reading)
{
    struct mg_card_list *each   = &reading->each;
    struct mg_traffic    now    = {0};
    const int            before = each->count;

    while (each->count > 0 && !each->cards[each->count - 1].is_rdma)
        each->count--;
    if (mg_interfaces_read(&now, each))
        reading->ip = now;
    else
        each->count = before;
}

/* ---- Between two readings -------------------------------------------------------------------- */

static bool went_back(const struct mg_traffic *earlier, const struct mg_traffic *later)
{
    return later->received_bytes < earlier->received_bytes ||
           later->sent_bytes < earlier->sent_bytes;
}

static struct mg_traffic between(const struct mg_traffic *earlier, const struct mg_traffic *later)
{
    return (struct mg_traffic){later->received_bytes - earlier->received_bytes,
                               later->sent_bytes - earlier->sent_bytes};
}

static bool is_same(const struct mg_card_traffic *one, const struct mg_card_traffic *other)
{
    return one->is_rdma == other->is_rdma && strcmp(one->name, other->name) == 0;
}

/* A card in another reading, usually at the same index; NULL if it is not there. */
static const struct mg_card_traffic *found_in(const struct mg_card_list *each, int place,
                                              const struct mg_card_traffic *card)
{
    if (place < each->count && is_same(&each->cards[place], card))
        return &each->cards[place];
    for (int i = 0; i < each->count; i++)
        if (is_same(&each->cards[i], card))
            return &each->cards[i];
    return NULL;
}

/* Returns 1 if it was counted until now. */
static int mark_uncounted(struct mg_card_traffic *card)
{
    const bool was_counted = card->is_counted;

    card->is_counted = false;
    card->traffic    = (struct mg_traffic){0};
    return was_counted;
}

/* A card that is new counts from zero.  Returns how many counters went back. */
static int subtract(const struct mg_card_list *earlier, struct mg_card_list *later)
{
    int lost = 0;

    for (int i = 0; i < later->count; i++) {
        struct mg_card_traffic       *card = &later->cards[i];
        const struct mg_card_traffic *then = found_in(earlier, i, card);

        if (then == NULL)
            continue;
        if (went_back(&then->traffic, &card->traffic))
            lost += mark_uncounted(card);
        else
            card->traffic = between(&then->traffic, &card->traffic);
    }
    return lost;
}

/* Adds the cards that only the earlier reading has; returns how many.  If a list is full, cards
 * beyond it are not known. */
static int add_gone(const struct mg_card_list *earlier, struct mg_card_list *later)
{
    const int there = later->count;
    int       gone  = 0;

    for (int i = 0; i < earlier->count && there < MG_CARDS_MAX; i++) {
        if (found_in(later, i, &earlier->cards[i]) != NULL)
            continue;
        struct mg_card_traffic *card = mg_card_list_add(later);
        gone++;
        if (card == NULL)
            continue;
        *card = earlier->cards[i];
        (void) mark_uncounted(card);
    }
    return gone;
}

/* The sum over counted cards of a class; returns whether all listed ones are counted. */
static bool sum_up(const struct mg_card_list *each, bool is_rdma, struct mg_traffic *sum)
{
    bool all = true;

    *sum = (struct mg_traffic){0};
    for (int i = 0; i < each->count; i++) {
        const struct mg_card_traffic *card = &each->cards[i];

        if (card->is_rdma != is_rdma)
            continue;
        all = all && card->is_counted;
        sum->received_bytes += card->traffic.received_bytes;
        sum->sent_bytes += card->traffic.sent_bytes;
    }
    return all;
}

/* The traffic of a class; returns 1 if a counter of a card that is not listed went back. */
static int class_traffic(const struct mg_card_list *each, bool is_rdma,
                         const struct mg_traffic *earlier, struct mg_traffic *sum)
{
    struct mg_traffic listed;
    const bool        all  = sum_up(each, is_rdma, &listed);
    const bool        back = went_back(earlier, sum);

    *sum = all && !back ? between(earlier, sum) : listed;
    return all && back;
}

void mg_cards_subtract(const struct mg_card_reading *earlier, struct mg_card_reading *reading)
{
    struct mg_card_list *each = &reading->each;

    reading->is_stale = reading->is_stale || earlier->is_stale;
    if (earlier->uncounted > reading->uncounted)
        reading->uncounted = earlier->uncounted;
    reading->uncounted += subtract(&earlier->each, each) + add_gone(&earlier->each, each);
    reading->uncounted += class_traffic(each, false, &earlier->ip, &reading->ip);
    reading->uncounted += class_traffic(each, true, &earlier->rdma, &reading->rdma);
}
