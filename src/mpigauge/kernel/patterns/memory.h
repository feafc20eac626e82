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

static inline int mg_own_source(const struct mg_state *state)
{
    return state->rank;
}

#endif
