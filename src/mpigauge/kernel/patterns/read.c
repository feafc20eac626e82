/* read - a sum over 64-bit words: memory is only read. */
#include "memory/plain_passes.h"
#include "patterns/memory.h"
#include "rounds/sampling.h"

static uint64_t (*volatile read_all)(const unsigned char *data, size_t bytes) = mg_sum_words;

static void call(struct mg_state *state)
{
    uint64_t (*const read_now)(const unsigned char *data, size_t bytes) = read_all;
    const unsigned char *data                                           = state->send;
    const size_t         bytes                                          = state->bytes;

    for (int i = state->repeats; i > 0; i--) {
        state->found = read_now(data, bytes);
        MG_MEMORY_CHANGED();
    }
}

static bool check(const struct mg_state *state, char *error, size_t error_bytes)
{
    uint64_t expected = 0;

    for (size_t at = 0; at < state->bytes; at += sizeof expected) {
        uint64_t word = 0;

        memcpy(&word, state->send + at, sizeof word);
        expected += word;
    }
    if (state->found == expected)
        return true;
    (void) snprintf(error, error_bytes, "the sum over %zu B is wrong", state->bytes);
    return false;
}

const struct mg_pattern mg_read = {
    .name = "read",
    .about =
        "one rank reads its memory: a sum over 64-bit words, as many at once as the processor can",
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
                              .about      = "additions as wide as the processor has them",
                              .call       = call,
                              .directions = 1}),
};
