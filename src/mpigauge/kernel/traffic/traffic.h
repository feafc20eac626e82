/* traffic.h - network cards, and the bytes that they have received and sent. */
#ifndef MG_TRAFFIC_H
#define MG_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
    MG_CARDS_MAX       = 256, /* of a host that are listed; the sums have all */
    MG_CARD_NAME_BYTES = 64,
    MG_CARD_FACT_BYTES = 32,
};

/* A port of an RDMA card, or an IP interface.  Texts are empty if not known. */
struct mg_card {
    char name[MG_CARD_NAME_BYTES];  /* "eth0", "mlx5_0/1", "cxi0" */
    char speed[MG_CARD_FACT_BYTES]; /* "10000 Mbit/s", "100 Gb/sec (4X EDR)" */
    char mtu[MG_CARD_FACT_BYTES];
    char driver[MG_CARD_FACT_BYTES];
    char firmware[MG_CARD_FACT_BYTES];
    bool is_rdma;    /* else an IP interface */
    bool is_counted; /* both of its counters can be read */
};

/* Counted since some moment in the past; only differences matter. */
struct mg_traffic {
    int64_t received_bytes;
    int64_t sent_bytes;
};

/* The traffic of one card. */
struct mg_card_traffic {
    char              name[MG_CARD_NAME_BYTES];
    bool              is_rdma;
    bool              is_counted; /* false: it could be read once, and cannot any more */
    struct mg_traffic traffic;
};

/* Traffic by card, RDMA cards first. */
struct mg_card_list {
    int                    count;
    struct mg_card_traffic cards[MG_CARDS_MAX];
};

/* Copies a name; bytes that are not printable ASCII become `?`. */
static inline void mg_card_name(char *name, const char *text, int length)
{
    (void) snprintf(name, MG_CARD_NAME_BYTES, "%.*s", length, text);
    for (char *at = name; *at != '\0'; at++)
        if (*at <= ' ' || *at > '~')
            *at = '?';
}

/* A new element; NULL if the list is full. */
static inline struct mg_card_traffic *mg_card_list_add(struct mg_card_list *each)
{
    return each->count < MG_CARDS_MAX ? &each->cards[each->count++] : NULL;
}

#endif
