/* halves.h - pairs of ranks across the halves of a group: rank i and rank i + ranks / 2.  Of an odd
 * number of ranks the last one rests. */
#ifndef MG_HALVES_H
#define MG_HALVES_H

#include "patterns/pattern.h"

static inline int mg_pairs_in(const struct mg_state *state)
{
    return state->ranks / 2;
}

/* Whether this rank is the one that sends first, ... */
static inline bool mg_in_first_half(const struct mg_state *state)
{
    return state->rank < mg_pairs_in(state);
}

/* ... or has no partner. */
static inline bool mg_rests(const struct mg_state *state)
{
    return state->rank >= 2 * mg_pairs_in(state);
}

static inline int mg_partner(const struct mg_state *state)
{
    const int pairs = mg_pairs_in(state);

    return mg_in_first_half(state) ? state->rank + pairs : state->rank - pairs;
}

/* Whose payload a rank has that its partner sends to; -1 where it rests. */
static inline int mg_from_partner(const struct mg_state *state)
{
    return mg_rests(state) ? -1 : mg_partner(state);
}

#endif
