/* memcpy - the C library's copy from one place in this rank's memory to another. */
#include "patterns/memory.h"
#include "rounds/sampling.h"

static void *(*volatile copy)(void *to, const void *from, size_t bytes) = memcpy;

MG_IN_ONE_LINE static void call(struct mg_state *state)
{
    void *(*const copy_now)(void *to, const void *from, size_t bytes) = copy;
    unsigned char       *to                                           = state->recv;
    const unsigned char *from                                         = state->send;
    const size_t         bytes                                        = state->bytes;

    for (int i = state->repeats; i > 0; i--) {
        (void) copy_now(to, from, bytes);
        MG_MEMORY_CHANGED();
    }
    state->found = to[bytes - 1];
}

const struct mg_pattern mg_memcpy = {
    .name         = "memcpy",
    .about        = "the C library's copy within the memory of one rank",
    .time_of      = "one copy; bytes are counted once",
    .family       = MG_MEMORY,
    .sampling     = &mg_sampling_chained,
    .min_ranks    = 1,
    .active_ranks = 1,
    .trips        = MG_TRIPS_REPEAT,
    .least_ns     = MG_MEMORY_MIN_NS,
    .moves_bytes  = true,
    .unit_bytes   = 1,
    .modes        = MG_MODES({.name       = "standard",
                              .about      = "memcpy",
                              .call       = call,
                              .source     = mg_own_source,
                              .directions = 1,
                              .baseline   = "memcpy_ratio"}),
};
