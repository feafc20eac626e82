/* counters.h - counters that the operating system keeps for this rank and its host. */
#ifndef MG_COUNTERS_H
#define MG_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

/* Counted since some moment in the past; only differences matter.  -1 is not known. */
struct mg_counters {
    int64_t switches;    /* involuntary context switches of this thread */
    int64_t wait_ns;     /* time in which it was runnable and had no core */
    int64_t steal_ns;    /* time that the hypervisor took from all cores of the host */
    int64_t retransmits; /* TCP segments that the host has retransmitted */
    int     cpu;         /* on which this thread runs */
};

/* Steal and retransmits belong to the host and are read on request only. */
struct mg_counters mg_counters_read(bool with_steal, bool with_retransmits);
void               mg_counters_free(void);

/* later - earlier, or -1 where one of them is not known. */
int64_t mg_counter_difference(int64_t earlier, int64_t later);

#endif
