/* events.h - what happens next to packets. */
#ifndef LAB_EVENTS_H
#define LAB_EVENTS_H

#include <stdint.h>

enum { LAB_PACKETS = 65536 /* under way at once */ };

/* What happens next to a packet: it reaches the switch, or its destination. */
struct lab_event {
    int64_t  at_ns;
    uint64_t order; /* of equal times, the one that was entered first */
    uint32_t packet;
};

/* Every packet has at most one event, so there is room for it. */
void lab_enter(int64_t at_ns, uint32_t packet);

/* The earliest event, or NULL; and the same, taken out: there must be one. */
const struct lab_event *lab_first(void);
struct lab_event        lab_take_first(void);

#endif
