/* plain_passes - one pass over memory that only reads, and one that only writes, as wide as the
 * processor has it: the C library's copies are.
 *
 * Of each there is one body, compiled for several widths; which of them runs is asked for at run
 * time, since one kernel may be built on another machine than it runs on. */
#include "memory/plain_passes.h"

#include <string.h>

enum { LANE_WORDS = 8 /* 64 B: one register of the widest, several of others */ };

typedef uint64_t lane __attribute__((vector_size(LANE_WORDS * sizeof(uint64_t))));

/* Adds the lane at a place; a pointer, since no function can be given what only some have registers
 * for. */
static inline __attribute__((always_inline)) void add(lane *to, const unsigned char *data)
{
    lane words;

    memcpy(&words, data, sizeof words);
    *to += words;
}

/* Two chains of additions that do not wait for each other, four loads at a time. */
static inline __attribute__((always_inline)) uint64_t sum(const unsigned char *data, size_t bytes)
{
    const size_t width = sizeof(lane);
    lane         even = {0}, odd = {0};
    size_t       at   = 0;
    uint64_t     word = 0;

    for (; at + 4 * width <= bytes; at += 4 * width) {
        add(&even, data + at);
        add(&odd, data + at + width);
        add(&even, data + at + 2 * width);
        add(&odd, data + at + 3 * width);
    }
    for (; at + width <= bytes; at += width)
        add(&even, data + at);
    even += odd;
    uint64_t all = even[0] + even[1] + even[2] + even[3] + even[4] + even[5] + even[6] + even[7];
    for (; at < bytes; at += sizeof word) {
        memcpy(&word, data + at, sizeof word);
        all += word;
    }
    return all;
}

static inline __attribute__((always_inline)) void set(unsigned char *data, size_t bytes,
                                                      uint64_t value)
{
    const lane all = {value, value, value, value, value, value, value, value};
    size_t     at  = 0;

    for (; at + 4 * sizeof all <= bytes; at += 4 * sizeof all) {
        memcpy(data + at, &all, sizeof all);
        memcpy(data + at + sizeof all, &all, sizeof all);
        memcpy(data + at + 2 * sizeof all, &all, sizeof all);
        memcpy(data + at + 3 * sizeof all, &all, sizeof all);
    }
    for (; at + sizeof all <= bytes; at += sizeof all)
        memcpy(data + at, &all, sizeof all);
    for (; at < bytes; at += sizeof value)
        memcpy(data + at, &value, sizeof value);
}

#ifdef __x86_64__
__attribute__((target("avx512f"))) static uint64_t sum_512(const unsigned char *data, size_t bytes)
{
    return sum(data, bytes);
}

__attribute__((target("avx2"))) static uint64_t sum_256(const unsigned char *data, size_t bytes)
{
    return sum(data, bytes);
}

__attribute__((target("avx512f"))) static void set_512(unsigned char *data, size_t bytes,
                                                       uint64_t value)
{
    set(data, bytes, value);
}

__attribute__((target("avx2"))) static void set_256(unsigned char *data, size_t bytes,
                                                    uint64_t value)
{
    set(data, bytes, value);
}
#endif

uint64_t mg_sum_words(const unsigned char *data, size_t bytes)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f"))
        return sum_512(data, bytes);
    if (__builtin_cpu_supports("avx2"))
        return sum_256(data, bytes);
#endif
    return sum(data, bytes);
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
    set(data, bytes, value);
}
