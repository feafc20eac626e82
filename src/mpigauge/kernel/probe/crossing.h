/* crossing.h - what a message takes that is one byte above the eager limit. */
#ifndef MG_CROSSING_H
#define MG_CROSSING_H

#include "patterns/pattern.h"

#include <stddef.h>
#include <stdint.h>

enum {
    MG_CROSSING_ROUNDS_MAX = 60,
    MG_CROSSING_APART      = 8, /* bytes from the limit down to the pair that is compared with it */
};

/* The messages that are timed: two on both sides of the limit, and two on one side of it that have
 * the same places in a word.  What those differ by is the price of an odd byte. */
enum mg_crossing_size {
    MG_AT_LIMIT,
    MG_ABOVE_LIMIT, /* by one byte */
    MG_BELOW_LIMIT, /* by MG_CROSSING_APART bytes */
    MG_BELOW_ODD,   /* one byte more than that */
    MG_CROSSING_SIZES,
};

/* Round trips of each size, timed on rank 0. */
struct mg_crossing {
    int     rounds; /* 0 if they were not timed */
    int64_t samples_ns[MG_CROSSING_SIZES][MG_CROSSING_ROUNDS_MAX];
};

/* Times a ping-pong of the four sizes in turn, between ranks 0 and 1 of the group, whose buffers
 * hold one byte more than the limit.  `heartbeat` is called between round trips. */
struct mg_crossing mg_crossing_time(struct mg_state *state, int64_t limit_bytes,
                                    void (*heartbeat)(void));

#endif
