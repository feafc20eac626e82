/* cards.h - traffic of all network cards of this host, which shows how messages travelled. */
#ifndef MG_CARDS_H
#define MG_CARDS_H

#include "traffic/traffic.h"

#include <stdbool.h>

/* The two classes must not be added: IP may go through an RDMA card. */
struct mg_card_reading {
    struct mg_traffic ip;
    struct mg_traffic rdma;
    int64_t           uncounted; /* cards of both classes that could not be read */
    int64_t           is_stale;  /* counters are cached and were not waited for: nothing is known */
    struct mg_card_list each;
};

/* Opens the counters of this host; the first read does so if it was not called.  root is a prefix
 * of all paths: "" except in tests. */
void mg_cards_open(const char *root);
void mg_cards_free(void);

/* Lists the cards of both classes, at most MG_CARDS_MAX; returns how many. */
int mg_cards_list(struct mg_card *cards);

/* Reads all counters.  If some are cached, waits until they are fresh, or else reads none. */
void mg_cards_read(struct mg_card_reading *reading, bool waits);
void mg_cards_read_ip(struct mg_card_reading *reading); /* only the IP interfaces anew */
void mg_cards_clear(struct mg_card_reading *reading);   /* as on a host without cards */

/* Turns a reading into the difference from an earlier one.  A card whose counter went back, because
 * it was reset, and one that is gone are listed as not counted. */
void mg_cards_subtract(const struct mg_card_reading *earlier, struct mg_card_reading *reading);

#endif
