/* copy - a plain loop over 64-bit words, compiled with and without optimisation. */
#include "memory/plain_copy.h"
#include "patterns/memory.h"
#include "rounds/sampling.h"

typedef void (*copy_fn)(unsigned char *to, const unsigned char *from, size_t bytes);

static const struct {
    volatile copy_fn o3;
    volatile copy_fn o0;
} copies = {.o3 = mg_copy_o3, .o0 = mg_copy_o0};

MG_IN_ONE_LINE static void repeat(copy_fn copy, struct mg_state *state)
{
    unsigned char       *to    = state->recv;
    const unsigned char *from  = state->send;
    const size_t         bytes = state->bytes;

    for (int i = state->repeats; i > 0; i--) {
        copy(to, from, bytes);
        MG_MEMORY_CHANGED();
    }
    state->found = to[bytes - 1];
}

static void call_o3(struct mg_state *state)
{
    repeat(copies.o3, state);
}

static void call_o0(struct mg_state *state)
{
    repeat(copies.o0, state);
}

const struct mg_pattern mg_copy = {
    .name         = "copy",
    .about        = "a plain loop that copies 64-bit words within the memory of one rank",
    .time_of      = "one copy; bytes are counted once",
    .family       = MG_MEMORY,
    .sampling     = &mg_sampling_chained,
    .min_ranks    = 1,
    .active_ranks = 1,
    .trips        = MG_TRIPS_REPEAT,
    .least_ns     = MG_MEMORY_MIN_NS,
    .moves_bytes  = true,
    .unit_bytes   = MG_MEMORY_WORD_BYTES,
    .modes        = MG_MODES({.name       = "O3",
                              .about      = "compiled with -O3",
                              .call       = call_o3,
                              .source     = mg_own_source,
                              .directions = 1,
                              .baseline   = "copy_ratio"},
                             {.name       = "O0",
                              .about      = "compiled with -O0",
                              .call       = call_o0,
                              .source     = mg_own_source,
                              .directions = 1,
                              .baseline   = "copy_o0_ratio"}),
};
