/* memory.h - common parts of the memory baselines (docs/method-memory.md#memory).
 *
 * Work is called through volatile pointers and its results are used, so that the compiler cannot
 * remove it. */
#ifndef MG_MEMORY_H
#define MG_MEMORY_H

#include "patterns/pattern.h"

#include <stdio.h>
#include <string.h>

enum { MG_MEMORY_MIN_NS = 20000, MG_MEMORY_WORD_BYTES = 8 };

/* A compiler barrier: all memory may have changed. */
#define MG_MEMORY_CHANGED() __asm__ volatile("" : : : "memory")

/* Of a function with a loop of a few instructions.  It takes 10 % longer where the loop lies across
 * two lines of the cache, which must not depend on what else the kernel has. */
#if defined(__GNUC__) && !defined(__clang__)
#define MG_IN_ONE_LINE __attribute__((aligned(64), optimize("align-loops=64")))
#else
#define MG_IN_ONE_LINE __attribute__((aligned(64)))
#endif

static inline int mg_own_source(const struct mg_state *state)
{
    return state->rank;
}

#endif
