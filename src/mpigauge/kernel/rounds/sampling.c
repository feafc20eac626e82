/* sampling - the nine ways of taking samples. */
#include "rounds/sampling.h"

#include "rounds/common_start.h"
#include "rounds/rounds.h"

const struct mg_sampling mg_sampling_chained = {
    .name = "chained", .batching = MG_BATCH_CLOCK, .cpu_known = true, .run = mg_rounds_chained};

const struct mg_sampling mg_sampling_blocks = {
    .name = "blocks", .batching = MG_BATCH_BLOCKS, .cpu_known = true, .run = mg_rounds_chained};

const struct mg_sampling mg_sampling_floor = {.name      = "floor",
                                              .batching  = MG_BATCH_ONE,
                                              .cpu_known = true,
                                              .floor     = true,
                                              .run       = mg_rounds_chained};

const struct mg_sampling mg_sampling_probe = {
    .name = "probe", .batching = MG_BATCH_ONE, .probes = true};

const struct mg_sampling mg_sampling_common = {.name            = "common",
                                               .batching        = MG_BATCH_ONE,
                                               .cpu_known       = true,
                                               .starts_together = true,
                                               .run             = mg_rounds_common};

const struct mg_sampling mg_sampling_common_blocks = {.name            = "common-blocks",
                                                      .batching        = MG_BATCH_BLOCKS,
                                                      .cpu_known       = true,
                                                      .starts_together = true,
                                                      .run             = mg_rounds_common};

const struct mg_sampling mg_sampling_prepared = {
    .name = "prepared", .batching = MG_BATCH_ONE, .run = mg_rounds_prepared};

const struct mg_sampling mg_sampling_arrived = {
    .name = "arrived", .batching = MG_BATCH_CLOCK, .run = mg_rounds_prepared};

const struct mg_sampling mg_sampling_acked = {
    .name = "acked", .batching = MG_BATCH_BLOCKS, .run = mg_rounds_acked};
