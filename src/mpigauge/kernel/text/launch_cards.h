/* launch_cards.h - the network cards of all hosts of a launch. */
#ifndef MG_LAUNCH_CARDS_H
#define MG_LAUNCH_CARDS_H

#include "rounds/traffic.h"

#include <stdio.h>

/* One host after the other, in the order of their leaders: on rank 0, empty on all others. */
struct mg_launch_cards {
    int             hosts;
    int            *leaders; /* a rank of each host */
    int            *counts;
    struct mg_card *cards;
};

struct mg_launch_cards mg_launch_cards_gather(void); /* collective over the world */
void                   mg_launch_cards_free(struct mg_launch_cards *all);

/* The host of a rank. */
typedef const char *(*mg_name_fn)(const void *facts, int rank);

/* `"cards":[...]`; hosts with the same cards are said together. */
void mg_launch_cards_put(FILE *out, const struct mg_launch_cards *all, mg_name_fn name_of,
                         const void *facts);

#endif
