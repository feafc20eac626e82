/* sampling.h - the ways of taking samples; descriptors name one. */
#ifndef MG_SAMPLING_H
#define MG_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

struct mg_visit;
struct mg_state;
struct mg_walk;
struct mg_rounds;

/* How many calls lie between two clock readings. */
enum mg_batching {
    MG_BATCH_ONE,    /* one, even if it is short */
    MG_BATCH_CLOCK,  /* enough to make the cost of the clock negligible */
    MG_BATCH_BLOCKS, /* an even number, for stable averages */
};

struct mg_sampling {
    const char      *name;
    enum mg_batching batching;
    bool             cpu_known;       /* not if untimed preparation uses CPU time */
    bool             starts_together; /* all ranks start each round at the same time */
    bool             probes;          /* finds a limit instead of a time, without `run` */
    bool             floor;           /* measures the cost of the measurement itself */
    /* Up to `count` samples of `batch` calls each. */
    void (*run)(const struct mg_visit *visit, struct mg_state *state, struct mg_walk *walk,
                int batch, int count, int64_t limit_ns, struct mg_rounds *rounds);
};

/* Every round is a sample, timed on one rank from cause to effect. */
extern const struct mg_sampling mg_sampling_chained;
/* A sample is a block of rounds, since ranks can alternate long and short rounds. */
extern const struct mg_sampling mg_sampling_blocks;
/* A sample is one round, however short. */
extern const struct mg_sampling mg_sampling_floor;
/* Finds a limit instead of a time. */
extern const struct mg_sampling mg_sampling_probe;
/* All ranks start at the same time; a sample is last end - first start. */
extern const struct mg_sampling mg_sampling_common;
/* The same of a block of rounds, which each rank makes one after the other. */
extern const struct mg_sampling mg_sampling_common_blocks;
/* `prepare` before every call, untimed; the root times the call alone, less half a round trip if
 * the pattern has a baseline. */
extern const struct mg_sampling mg_sampling_prepared;
/* Messages come before each sample, untimed; rank 0 times as many calls that receive them. */
extern const struct mg_sampling mg_sampling_arrived;
/* Every rank in turn acknowledges; the largest time less half a round trip. */
extern const struct mg_sampling mg_sampling_acked;

#endif
