/* rdma_cards.h - traffic of the RDMA cards of this host: InfiniBand, RoCE, EFA, Omni-Path and
 * Slingshot, as listed under /sys/class. */
#ifndef MG_RDMA_CARDS_H
#define MG_RDMA_CARDS_H

#include "traffic/traffic.h"

/* root is a prefix of all paths: "" except in tests. */
void mg_rdma_open(const char *root);
void mg_rdma_close(void);

/* How long the kernel caches counters of this host; 0 if it does not. */
int mg_rdma_lifespan_ms(void);

/* Reads the sum over all ports, and appends those that could be read at least once.  Returns how
 * many cannot be read.  Waits until cached counters are fresh. */
int mg_rdma_read(struct mg_traffic *traffic, struct mg_card_list *each);

/* Lists the first `room` ports; returns how many. */
int mg_rdma_list(struct mg_card *cards, int room);

#endif
