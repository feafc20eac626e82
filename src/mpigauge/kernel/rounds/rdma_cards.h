/* rdma_cards.h - what the cards of this host have carried that know RDMA: InfiniBand, RoCE, EFA,
 * Omni-Path and Slingshot, as the system lists them under /sys/class. */
#ifndef MG_RDMA_CARDS_H
#define MG_RDMA_CARDS_H

#include "rounds/traffic.h"

/* root comes before the path of every file: "" but for tests. */
void mg_rdma_open(const char *root);
void mg_rdma_close(void);

/* How long the system gives the same answer when it is asked for a counter of this host; 0 where
 * every answer is new. */
int mg_rdma_held_back_ms(void);

/* All ports together, and one by one behind those in `each`: those that could be counted once.
 * Returns how many could not be.  Waits for counters that the system holds back. */
int mg_rdma_read(struct mg_traffic *carried, struct mg_each_card *each);

/* The ports, at most `room`; how many these are. */
int mg_rdma_list(struct mg_card *cards, int room);

#endif
