/* cards - what all network cards of this host have carried: the proof of how messages travelled. */
#include "rounds/cards.h"

#include "rounds/card_facts.h"
#include "rounds/interfaces.h"
#include "rounds/rdma_cards.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

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

struct mg_carried mg_cards_read(void)
{
    struct mg_carried carried;

    open_once();
    carried.uncounted = mg_rdma_read(&carried.rdma);
    carried.uncounted += !mg_interfaces_read(&carried.ip);
    return carried;
}

void mg_cards_read_ip(struct mg_carried *carried)
{
    struct mg_traffic now;

    if (mg_interfaces_read(&now))
        carried->ip = now;
}

static bool went_back(const struct mg_traffic *earlier, const struct mg_traffic *later)
{
    return later->received_bytes < earlier->received_bytes ||
           later->sent_bytes < earlier->sent_bytes;
}

static struct mg_traffic between(const struct mg_traffic *earlier, const struct mg_traffic *later)
{
    if (went_back(earlier, later))
        return (struct mg_traffic){0};
    return (struct mg_traffic){later->received_bytes - earlier->received_bytes,
                               later->sent_bytes - earlier->sent_bytes};
}

struct mg_carried mg_cards_between(const struct mg_carried *earlier, const struct mg_carried *later)
{
    struct mg_carried carried = {.ip   = between(&earlier->ip, &later->ip),
                                 .rdma = between(&earlier->rdma, &later->rdma)};

    carried.uncounted =
        earlier->uncounted > later->uncounted ? earlier->uncounted : later->uncounted;
    carried.uncounted += went_back(&earlier->ip, &later->ip);
    carried.uncounted += went_back(&earlier->rdma, &later->rdma);
    return carried;
}
