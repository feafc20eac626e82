/* handover.h - a word in shared memory that two ranks hand to each other. */
#ifndef MG_HANDOVER_H
#define MG_HANDOVER_H

#include "../kernel.h"

#include <sched.h>
#include <stdatomic.h>

enum { MG_PATIENCE = 20000 /* looks; then the other rank may need this core */ };

static inline _Atomic uint64_t *mg_word(const struct mg_state *state)
{
    return (_Atomic uint64_t *) (void *) state->shared;
}

static inline void mg_hand_over(const struct mg_state *state, uint64_t value)
{
    atomic_store_explicit(mg_word(state), value, memory_order_release);
}

static inline void mg_wait_for(const struct mg_state *state, uint64_t value)
{
    for (int looks = 0; atomic_load_explicit(mg_word(state), memory_order_acquire) != value;
         looks++)
        if (looks > MG_PATIENCE)
            (void) sched_yield();
}

#endif
