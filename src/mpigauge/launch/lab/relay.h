/* relay.h - what the parts of the relay share. */
#ifndef LAB_RELAY_H
#define LAB_RELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LAB_HOSTS_MOST = 64,
    LAB_PACKETS    = 65536, /* under way at once */
    LAB_SECOND_NS  = 1000000000,
};

struct lab_lane {
    double  ns_per_byte;
    int64_t free_ns;
};

struct lab_route {
    struct lab_lane *up; /* NULL: there is no such route */
    struct lab_lane *down;
    int64_t          delay_ns;
};

/* What happens next to a packet: it reaches the switch, or its destination. */
struct lab_event {
    int64_t  at_ns;
    uint64_t order; /* of equal times, the one that was entered first */
    uint32_t packet;
};

extern int              lab_hosts;
extern struct lab_route lab_routes[LAB_HOSTS_MOST + 1]
                                  [LAB_HOSTS_MOST + 1]; /* from 1, as hosts are */

/* Ends the relay with a sentence. */
_Noreturn void lab_die(const char *what, const char *why);

/* Reads standard input up to its line `end`. */
void lab_read_topology(void);

/* Every packet has at most one event, so there is room for it. */
void lab_enter(int64_t at_ns, uint32_t packet);

/* The earliest event, or NULL; and the same, taken out: there must be one. */
const struct lab_event *lab_first(void);
struct lab_event        lab_take_first(void);

#endif
