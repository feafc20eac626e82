/* plain_passes - one pass over memory that only reads, and one that only writes, with the widest
 * vectors of the processor, as the C library's memcpy.
 *
 * Each is compiled for several widths, and one is chosen at run time, since the kernel may be built
 * on another machine than it runs on. */
#include "memory/plain_passes.h"

#include <string.h>

enum { WORD_BYTES = sizeof(uint64_t) };

/* A vector type of so many bits, and both passes with it.  A type wider than the registers would be
 * spilled to memory.
 *
 * Four independent chains of additions hide their latency. */
#define PASSES(bits, ...)                                                                 \
    typedef uint64_t lane_##bits __attribute__((vector_size((bits) / 8)));                \
                                                                                          \
    __VA_ARGS__ static uint64_t sum_##bits(const unsigned char *data, size_t bytes)       \
    {                                                                                     \
        lane_##bits  a = {0}, b = {0}, c = {0}, d = {0};                                  \
        lane_##bits  next_a, next_b, next_c, next_d;                                      \
        uint64_t     words[(bits) / 64];                                                  \
        uint64_t     word  = 0;                                                           \
        uint64_t     all   = 0;                                                           \
        const size_t width = sizeof a;                                                    \
        size_t       at    = 0;                                                           \
                                                                                          \
        for (; at + 4 * width <= bytes; at += 4 * width) {                                \
            memcpy(&next_a, data + at, width);                                            \
            memcpy(&next_b, data + at + width, width);                                    \
            memcpy(&next_c, data + at + 2 * width, width);                                \
            memcpy(&next_d, data + at + 3 * width, width);                                \
            a += next_a;                                                                  \
            b += next_b;                                                                  \
            c += next_c;                                                                  \
            d += next_d;                                                                  \
        }                                                                                 \
        a += b + c + d;                                                                   \
        memcpy(words, &a, sizeof words);                                                  \
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)                         \
            all += words[i];                                                              \
        for (; at < bytes; at += WORD_BYTES) {                                            \
            memcpy(&word, data + at, WORD_BYTES);                                         \
            all += word;                                                                  \
        }                                                                                 \
        return all;                                                                       \
    }                                                                                     \
                                                                                          \
    __VA_ARGS__ static void set_##bits(unsigned char *data, size_t bytes, uint64_t value) \
    {                                                                                     \
        const lane_##bits all = value - (lane_##bits){0};                                 \
        size_t            at  = 0;                                                        \
                                                                                          \
        for (; at + 4 * sizeof all <= bytes; at += 4 * sizeof all) {                      \
            memcpy(data + at, &all, sizeof all);                                          \
            memcpy(data + at + sizeof all, &all, sizeof all);                             \
            memcpy(data + at + 2 * sizeof all, &all, sizeof all);                         \
            memcpy(data + at + 3 * sizeof all, &all, sizeof all);                         \
        }                                                                                 \
        for (; at < bytes; at += WORD_BYTES)                                              \
            memcpy(data + at, &value, WORD_BYTES);                                        \
    }

PASSES(128, )
#ifdef __x86_64__
PASSES(256, __attribute__((target("avx2"))))
PASSES(512, __attribute__((target("avx512f"))))
#endif

uint64_t mg_sum_words(const unsigned char *data, size_t bytes)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f"))
        return sum_512(data, bytes);
    if (__builtin_cpu_supports("avx2"))
        return sum_256(data, bytes);
#endif
    return sum_128(data, bytes);
}

void mg_set_words(unsigned char *data, size_t bytes, uint64_t value)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f")) {
        set_512(data, bytes, value);
        return;
    }
    if (__builtin_cpu_supports("avx2")) {
        set_256(data, bytes, value);
        return;
    }
#endif
    set_128(data, bytes, value);
}
