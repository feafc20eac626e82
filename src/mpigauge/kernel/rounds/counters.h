/* counters.h - what the operating system counts of this rank and its host. */
#ifndef MG_COUNTERS_H
#define MG_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

/* Since some moment of the past; differences matter.  -1 is not known. */
struct mg_counters {
    int64_t switches;    /* times that this thread lost its core against its will */
    int64_t wait_ns;     /* that it was ready to run and had no core */
    int64_t steal_ns;    /* that a hypervisor took from all cores of the host */
    int64_t retransmits; /* TCP segments that the host has sent again */
    int     cpu;         /* where this thread is */
};

/* Steal and retransmitted segments are of the host: asked for only where somebody needs them. */
struct mg_counters mg_counters_read(bool with_steal, bool with_retransmits);
void               mg_counters_free(void);

/* later - earlier, or -1 where one of them is not known. */
int64_t mg_counted(int64_t earlier, int64_t later);

#endif
