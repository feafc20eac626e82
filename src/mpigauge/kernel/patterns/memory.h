/* memory.h - what the baselines of memory share (docs/method.md#memory).
 *
 * Work is called through pointers that the compiler must read anew each time, and results are
 * looked at, or it would see that nobody needs the work and leave it out. */
#ifndef MG_MEMORY_H
#define MG_MEMORY_H

#include "patterns/pattern.h"

#include <stdio.h>
#include <string.h>

enum { MG_MEMORY_LEAST_NS = 20000, MG_MEMORY_WORD_BYTES = 8 };

/* Nothing before this may be assumed of memory after it. */
#define MG_MEMORY_CHANGED() __asm__ volatile("" : : : "memory")

static inline int mg_own_source(const struct mg_state *state)
{
    return state->rank;
}

#endif
