/* eager_probe.h - the eager limit: the largest message that completes before it is received. */
#ifndef MG_EAGER_PROBE_H
#define MG_EAGER_PROBE_H

#include "patterns/pattern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mg_eager {
    bool    known;
    bool    found;        /* false: no limit up to max_bytes, or it grew with the polling time */
    bool    control_held; /* the same probe with MPI_Issend never completed */
    int64_t limit_bytes;  /* largest message that completed without a receive */
    int64_t longer_bytes; /* limit_bytes with longer polling */
    int64_t max_bytes;    /* largest size tried */
    int     probes;
};

/* The probe of docs/method-memory.md#the-eager-limit between ranks 0 and 1 of the group; both get
 * the same result.  `heartbeat` is called between probes, outside timed code. */
struct mg_eager mg_eager_probe(const struct mg_state *state, size_t max_bytes,
                               void (*heartbeat)(void));

#endif
