/* cards.h - what all network cards of this host have carried: the proof of how messages travelled.
 */
#ifndef MG_CARDS_H
#define MG_CARDS_H

#include "rounds/traffic.h"

enum { MG_CARDS_MOST = 256 }; /* that are listed; counted are all */

/* The two classes are no sum: IP may go through a card of the other. */
struct mg_carried {
    struct mg_traffic ip;
    struct mg_traffic rdma;
    int64_t           uncounted; /* cards that were not, of both classes */
};

/* Opens the counters of this host; without it whoever reads first does so.  root comes before the
 * path of every file: "" but for tests. */
void mg_cards_open(const char *root);
void mg_cards_free(void);

/* The cards of both classes, at most MG_CARDS_MOST; how many these are. */
int mg_cards_list(struct mg_card *cards);

struct mg_carried mg_cards_read(void);
void              mg_cards_read_ip(struct mg_carried *carried); /* those of IP anew */

/* What was carried between two readings.  A counter that went back was set to zero by somebody, or
 * its interface is gone: then its class is not counted. */
struct mg_carried mg_cards_between(const struct mg_carried *earlier,
                                   const struct mg_carried *later);

#endif
