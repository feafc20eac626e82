/* fan.h - acknowledgements between the root and all other ranks. */
#ifndef MG_FAN_H
#define MG_FAN_H

#include "patterns/calls.h"

static inline void mg_signal_others(const struct mg_state *state)
{
    for (int rank = 0; rank < state->ranks; rank++)
        if (rank != state->root)
            mg_signal(state, rank);
}

static inline void mg_await_others(const struct mg_state *state)
{
    for (int rank = 0; rank < state->ranks; rank++)
        if (rank != state->root)
            mg_await(state, rank);
}

#endif
