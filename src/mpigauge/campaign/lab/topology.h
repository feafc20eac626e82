/* topology.h - the hosts of a lab, and the lanes and routes between them. */
#ifndef LAB_TOPOLOGY_H
#define LAB_TOPOLOGY_H

#include <stdint.h>

enum {
    LAB_HOSTS_MAX = 64,
    LAB_SECOND_NS = 1000000000,
};

struct lab_lane {
    double  ns_per_byte;
    int64_t free_ns;
};

struct lab_route {
    struct lab_lane *up; /* NULL: there is no route */
    struct lab_lane *down;
    int64_t          delay_ns;
};

extern int              lab_hosts;
extern struct lab_route lab_routes[LAB_HOSTS_MAX + 1][LAB_HOSTS_MAX + 1]; /* from 1, as hosts are */

/* Reads the topology from standard input, up to its line `end`. */
void lab_read_topology(void);

#endif
