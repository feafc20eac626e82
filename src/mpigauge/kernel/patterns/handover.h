/* handover.h - a word in shared memory that two ranks hand to each other. */
#ifndef MG_HANDOVER_H
#define MG_HANDOVER_H

#include "patterns/pattern.h"

#include <sched.h>

enum { MG_SPINS_MAX = 20000 /* polls; then yield, the other rank may need this core */ };

static inline uint64_t *mg_word(const struct mg_state *state)
{
    return (uint64_t *) (void *) state->shared;
}

static inline void mg_hand_over(const struct mg_state *state, uint64_t value)
{
    __atomic_store_n(mg_word(state), value, __ATOMIC_RELEASE);
}

static inline void mg_wait_for(const struct mg_state *state, uint64_t value)
{
    for (int polls = 0; __atomic_load_n(mg_word(state), __ATOMIC_ACQUIRE) != value; polls++)
        if (polls > MG_SPINS_MAX)
            (void) sched_yield();
}

#endif
