/* sampling.h - the ways of taking samples; a pattern's descriptor names one. */
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
    MG_BATCH_ONE,    /* one, however short it is */
    MG_BATCH_CLOCK,  /* so many that reading the clock costs little beside them */
    MG_BATCH_BLOCKS, /* an even number of at least some */
};

struct mg_sampling {
    const char      *name;
    enum mg_batching batching;
    bool             cpu_known;       /* not where preparations, in no sample, cost on-core time */
    bool             starts_together; /* all ranks start each round at one moment */
    bool             probes;          /* finds a limit instead of a time: it has no `run` */
    bool             floor;           /* shows what the instrument itself costs */
    /* Up to `count` samples of `batch` calls each. */
    void (*run)(const struct mg_visit *visit, struct mg_state *state, struct mg_walk *walk,
                int batch, int count, int64_t limit_ns, struct mg_rounds *rounds);
};

/* Every round is a sample: the root's clock sees cause and effect. */
extern const struct mg_sampling mg_sampling_chained;
/* Both sides can lock into a skewed rhythm, so a sample is a block of rounds. */
extern const struct mg_sampling mg_sampling_blocks;
/* One round a sample whatever it takes. */
extern const struct mg_sampling mg_sampling_floor;
/* Finds a limit instead of a time. */
extern const struct mg_sampling mg_sampling_probe;
/* All ranks start at one moment; a sample is last end - first start. */
extern const struct mg_sampling mg_sampling_common;
/* `prepare` before every call, untimed; the root times the call alone. */
extern const struct mg_sampling mg_sampling_prepared;
/* Every rank in turn acknowledges; the largest time but half a round trip. */
extern const struct mg_sampling mg_sampling_acked;

#endif
