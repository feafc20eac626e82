/* copy - a plain loop over 64-bit words, compiled with and without optimisation.
 *
 * The pragmas hold for mg_copy_o3 and mg_copy_o0 alone; the rest of the kernel has the flags of its
 * build.  Recognised as a copy, the loop would become a call of memcpy, which is another yardstick.
 */
#include "memory.h"

#define COPY_LOOP                                                   \
    const uint64_t *words = (const uint64_t *) (const void *) from; \
    uint64_t       *out   = (uint64_t *) (void *) to;               \
                                                                    \
    for (size_t i = 0; i < bytes / sizeof *words; i++)              \
        out[i] = words[i];

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("O3", "no-tree-loop-distribute-patterns")
#endif
void mg_copy_o3(unsigned char *to, const unsigned char *from, size_t bytes)
{
    COPY_LOOP
}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC optimize("O0")
#elif defined(__clang__)
#pragma clang optimize off
#endif
void mg_copy_o0(unsigned char *to, const unsigned char *from, size_t bytes)
{
    COPY_LOOP
}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#elif defined(__clang__)
#pragma clang optimize on
#endif

static volatile mg_copy_fn copy_o3 = mg_copy_o3;
static volatile mg_copy_fn copy_o0 = mg_copy_o0;

static void repeat(mg_copy_fn copy, const struct mg_state *state)
{
    unsigned char       *to    = state->recv;
    const unsigned char *from  = state->send;
    const size_t         bytes = state->bytes;

    for (int i = state->repeats; i > 0; i--) {
        copy(to, from, bytes);
        MG_MEMORY_CHANGED();
    }
}

static void call_o3(struct mg_state *state)
{
    repeat(copy_o3, state);
}

static void call_o0(struct mg_state *state)
{
    repeat(copy_o0, state);
}

const struct mg_pattern mg_copy = {
    .name         = "copy",
    .about        = "a plain loop that copies 64-bit words within the memory of one rank",
    .time_of      = "one copy; bytes are counted once",
    .sampling     = MG_CHAINED,
    .min_ranks    = 1,
    .active_ranks = 1,
    .trips        = MG_TRIPS_REPEAT,
    .least_ns     = MG_MEMORY_LEAST_NS,
    .moves_bytes  = true,
    .unit_bytes   = MG_MEMORY_WORD_BYTES,
    .modes =
        {
            {.name       = "O3",
             .about      = "compiled with -O3",
             .call       = call_o3,
             .source     = mg_own_source,
             .directions = 1},
            {.name       = "O0",
             .about      = "compiled with -O0",
             .call       = call_o0,
             .source     = mg_own_source,
             .directions = 1},
        },
};
