/* cards.h - what all network cards of this host have carried: the proof of how messages travelled.
 */
#ifndef MG_CARDS_H
#define MG_CARDS_H

#include "rounds/traffic.h"

#include <stdbool.h>

/* The two classes are no sum: IP may go through a card of the other. */
struct mg_carried {
    struct mg_traffic   ip;
    struct mg_traffic   rdma;
    int64_t             uncounted; /* cards that were not, of both classes */
    int64_t             is_stale;  /* held back, and not waited for: nothing is known */
    struct mg_each_card each;
};

/* Opens the counters of this host; without it whoever reads first does so.  root comes before the
 * path of every file: "" but for tests. */
void mg_cards_open(const char *root);
void mg_cards_free(void);

/* The cards of both classes, at most MG_CARDS_MOST; how many these are. */
int mg_cards_list(struct mg_card *cards);

/* Waits for cards that hold their counters back, or leaves them all unread. */
void mg_cards_read(struct mg_carried *carried, bool waits);
void mg_cards_read_ip(struct mg_carried *carried); /* those of IP anew */
void mg_cards_nothing(struct mg_carried *carried); /* as of a host without cards */

/* Makes of a reading what was carried since an earlier one.  A card whose counter went back, since
 * somebody set it to zero, and one that is gone are not counted, and listed as such. */
void mg_cards_since(const struct mg_carried *earlier, struct mg_carried *carried);

#endif
