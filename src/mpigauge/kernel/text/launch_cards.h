/* launch_cards.h - the network cards of all hosts of a launch. */
#ifndef MG_LAUNCH_CARDS_H
#define MG_LAUNCH_CARDS_H

#include "traffic/traffic.h"

#include <stdio.h>

/* By host, in the order of their leaders; empty except on rank 0. */
struct mg_launch_cards {
    int             hosts;
    int            *leaders; /* a rank of each host */
    int            *counts;
    struct mg_card *cards;
};

struct mg_launch_cards mg_launch_cards_gather(void); /* collective over the world */
void                   mg_launch_cards_free(struct mg_launch_cards *all);

/* The name of the host of a rank. */
typedef const char *(*mg_name_fn)(const void *facts, int rank);

/* Writes `"cards":[...]`, with hosts that have the same cards in one element. */
void mg_launch_cards_put(FILE *out, const struct mg_launch_cards *all, mg_name_fn name_of,
                         const void *facts);

#endif
