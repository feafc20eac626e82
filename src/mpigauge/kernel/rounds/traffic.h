/* traffic.h - network cards by name and class, and what those of a class have carried. */
#ifndef MG_TRAFFIC_H
#define MG_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

enum { MG_CARD_NAME_BYTES = 64, MG_CARD_FACT_BYTES = 32 };

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

#endif
