/* plain_copy - a plain loop over 64-bit words, compiled with and without optimisation.
 *
 * The pragmas hold for these two functions only.  Without them the compiler would turn the loop
 * into a call of memcpy, which is another baseline. */
#include "memory/plain_copy.h"

#include <stdint.h>

/* May alias whatever type the memory was written as. */
typedef uint64_t word __attribute__((may_alias));

#define COPY_LOOP                                           \
    const word *words = (const word *) (const void *) from; \
    word       *out   = (word *) (void *) to;               \
                                                            \
    for (size_t i = 0; i < bytes / sizeof *words; i++)      \
        out[i] = words[i];

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("O3", "no-tree-loop-distribute-patterns", "align-loops=64")
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
