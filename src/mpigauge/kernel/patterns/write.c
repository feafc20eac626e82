/* write - one value into all words of memory: memory is only written. */
#include "memory/plain_passes.h"
#include "patterns/memory.h"
#include "rounds/sampling.h"

static const uint64_t value = 0x5851f42d4c957f2du;

static void (*volatile write_all)(unsigned char *data, size_t bytes, uint64_t value) = mg_set_words;

static void call(struct mg_state *state)
{
    void (*const write_now)(unsigned char *data, size_t bytes, uint64_t value) = write_all;
    unsigned char *data                                                        = state->recv;
    const size_t   bytes                                                       = state->bytes;

    for (int i = state->repeats; i > 0; i--) {
        write_now(data, bytes, value);
        MG_MEMORY_CHANGED();
    }
}

static bool check(const struct mg_state *state, char *error, size_t error_bytes)
{
    for (size_t at = 0; at < state->bytes; at += sizeof value)
        if (memcmp(state->recv + at, &value, sizeof value) != 0) {
            (void) snprintf(error, error_bytes, "byte %zu of %zu was not written", at,
                            state->bytes);
            return false;
        }
    return true;
}

const struct mg_pattern mg_write = {
    .name         = "write",
    .about        = "one rank writes its memory: stores as wide as the processor has them",
    .time_of      = "one pass",
    .family       = MG_MEMORY,
    .sampling     = &mg_sampling_chained,
    .min_ranks    = 1,
    .active_ranks = 1,
    .trips        = MG_TRIPS_REPEAT,
    .least_ns     = MG_MEMORY_MIN_NS,
    .moves_bytes  = true,
    .unit_bytes   = MG_MEMORY_WORD_BYTES,
    .check        = check,
    .modes        = MG_MODES({.name       = "standard",
                              .about      = "stores as wide as the processor has them",
                              .call       = call,
                              .directions = 1}),
};
