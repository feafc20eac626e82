/* traffic.h - network cards by name and class, and what those of a class have carried. */
#ifndef MG_TRAFFIC_H
#define MG_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
    MG_CARDS_MOST      = 256, /* of a host that are told apart; counted are all */
    MG_CARD_NAME_BYTES = 64,
    MG_CARD_FACT_BYTES = 32,
};

/* A port of a card; an interface of IP is one, too.  Texts are empty where the system says nothing.
 */
struct mg_card {
    char name[MG_CARD_NAME_BYTES];  /* "eth0", "mlx5_0/1", "cxi0" */
    char speed[MG_CARD_FACT_BYTES]; /* "10000 Mbit/s", "100 Gb/sec (4X EDR)" */
    char mtu[MG_CARD_FACT_BYTES];
    char driver[MG_CARD_FACT_BYTES];
    char firmware[MG_CARD_FACT_BYTES];
    bool is_rdma;    /* messages may go through it past IP */
    bool is_counted; /* both of its counters can be read */
};

/* Since some moment of the past; differences matter. */
struct mg_traffic {
    int64_t received_bytes;
    int64_t sent_bytes;
};

/* What one card has carried. */
struct mg_card_traffic {
    char              name[MG_CARD_NAME_BYTES];
    bool              is_rdma;
    bool              is_counted; /* false: it was when it was first read, and is not any more */
    struct mg_traffic carried;
};

/* Cards one by one, those of RDMA first. */
struct mg_each_card {
    int                    count;
    struct mg_card_traffic cards[MG_CARDS_MOST];
};

/* The system takes nearly every byte in a name; those that are no printable ASCII become `?`. */
static inline void mg_card_name(char *name, const char *text, int length)
{
    (void) snprintf(name, MG_CARD_NAME_BYTES, "%.*s", length, text);
    for (char *at = name; *at != '\0'; at++)
        if (*at <= ' ' || *at > '~')
            *at = '?';
}

/* NULL where there is no room any more. */
static inline struct mg_card_traffic *mg_each_card_add(struct mg_each_card *each)
{
    return each->count < MG_CARDS_MOST ? &each->cards[each->count++] : NULL;
}

#endif
