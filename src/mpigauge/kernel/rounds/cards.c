/* cards - what all network cards of this host have carried: the proof of how messages travelled. */
#include "rounds/cards.h"

#include "rounds/card_facts.h"
#include "rounds/interfaces.h"
#include "rounds/rdma_cards.h"

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
    const int rdma  = mg_rdma_list(cards, MG_CARDS_MOST);
    const int count = rdma + mg_interfaces_list(cards + rdma, MG_CARDS_MOST - rdma);

    for (int i = 0; i < count; i++)
        mg_card_facts_add(own.root, &cards[i]);
    return count;
}

void mg_cards_nothing(struct mg_carried *carried)
{
    carried->ip = carried->rdma = (struct mg_traffic){0};
    carried->uncounted          = 0;
    carried->is_stale           = 0;
    carried->each.count         = 0; /* the rest is many bytes that nobody reads */
}

void mg_cards_read(struct mg_carried *carried, bool waits)
{
    open_once();
    mg_cards_nothing(carried);
    if (!waits && mg_rdma_held_back_ms() > 0) {
        carried->is_stale = 1;
        return;
    }
    carried->uncounted = mg_rdma_read(&carried->rdma, &carried->each);
    carried->uncounted += !mg_interfaces_read(&carried->ip, &carried->each);
}

void mg_cards_read_ip(struct mg_carried *carried)
{
    struct mg_each_card *each   = &carried->each;
    struct mg_traffic    now    = {0};
    const int            before = each->count;

    while (each->count > 0 && !each->cards[each->count - 1].is_rdma)
        each->count--;
    if (mg_interfaces_read(&now, each))
        carried->ip = now;
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

/* A card in another reading, where it mostly has the same place; NULL if it is not there. */
static const struct mg_card_traffic *found_in(const struct mg_each_card *each, int place,
                                              const struct mg_card_traffic *card)
{
    if (place < each->count && is_same(&each->cards[place], card))
        return &each->cards[place];
    for (int i = 0; i < each->count; i++)
        if (is_same(&each->cards[i], card))
            return &each->cards[i];
    return NULL;
}

static int lose(struct mg_card_traffic *card)
{
    const bool was_counted = card->is_counted;

    card->is_counted = false;
    card->carried    = (struct mg_traffic){0};
    return was_counted;
}

/* Of one that has come since then, all that it carried.  Returns how many went back. */
static int subtract(const struct mg_each_card *earlier, struct mg_each_card *later)
{
    int lost = 0;

    for (int i = 0; i < later->count; i++) {
        struct mg_card_traffic       *card = &later->cards[i];
        const struct mg_card_traffic *then = found_in(earlier, i, card);

        if (then == NULL)
            continue;
        if (went_back(&then->carried, &card->carried))
            lost += lose(card);
        else
            card->carried = between(&then->carried, &card->carried);
    }
    return lost;
}

/* Adds the cards that only the earlier reading has; returns how many these are.  Of more cards than
 * are told apart nobody knows which are gone. */
static int add_gone(const struct mg_each_card *earlier, struct mg_each_card *later)
{
    const int there = later->count;
    int       gone  = 0;

    for (int i = 0; i < earlier->count && there < MG_CARDS_MOST; i++) {
        if (found_in(later, i, &earlier->cards[i]) != NULL)
            continue;
        struct mg_card_traffic *card = mg_each_card_add(later);
        gone++;
        if (card == NULL)
            continue;
        *card = earlier->cards[i];
        (void) lose(card);
    }
    return gone;
}

/* What those of a class have carried that are counted; true if these are all that are listed. */
static bool sum_up(const struct mg_each_card *each, bool is_rdma, struct mg_traffic *sum)
{
    bool all = true;

    *sum = (struct mg_traffic){0};
    for (int i = 0; i < each->count; i++) {
        const struct mg_card_traffic *card = &each->cards[i];

        if (card->is_rdma != is_rdma)
            continue;
        all = all && card->is_counted;
        sum->received_bytes += card->carried.received_bytes;
        sum->sent_bytes += card->carried.sent_bytes;
    }
    return all;
}

/* What a class has carried; returns 1 if one of its cards was lost that is not listed. */
static int settle(const struct mg_each_card *each, bool is_rdma, const struct mg_traffic *earlier,
                  struct mg_traffic *sum)
{
    struct mg_traffic listed;
    const bool        all  = sum_up(each, is_rdma, &listed);
    const bool        back = went_back(earlier, sum);

    *sum = all && !back ? between(earlier, sum) : listed;
    return all && back;
}

void mg_cards_since(const struct mg_carried *earlier, struct mg_carried *carried)
{
    struct mg_each_card *each = &carried->each;

    carried->is_stale = carried->is_stale || earlier->is_stale;
    if (earlier->uncounted > carried->uncounted)
        carried->uncounted = earlier->uncounted;
    carried->uncounted += subtract(&earlier->each, each) + add_gone(&earlier->each, each);
    carried->uncounted += settle(each, false, &earlier->ip, &carried->ip);
    carried->uncounted += settle(each, true, &earlier->rdma, &carried->rdma);
}
