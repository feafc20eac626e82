/* mockup.h - collectives made of others, which no collective should be slower than.
 *
 * Source: Hunold, Carpen-Amarie, Luebbe, Traeff, "Automatic Verification of Self-Consistent MPI
 * Performance Guidelines", Euro-Par 2016.  What a mock-up copies is part of its time; memory that
 * it needs beside send and recv is not made in it. */
#ifndef MG_MOCKUP_H
#define MG_MOCKUP_H

#include "patterns/collective.h"

#include <string.h>

#define MG_MOCKUP(mode, words, function) \
    {.name       = (mode),               \
     .about      = (words),              \
     .call       = (function),           \
     .directions = 1,                    \
     .instead_of = "blocking"}

/* With so much memory beside send and recv: MG_ONE_MESSAGE, for example. */
#define MG_MOCKUP_BESIDE(mode, words, function, ...) \
    {.name       = (mode),                           \
     .about      = (words),                          \
     .call       = (function),                       \
     .directions = 1,                                \
     .instead_of = "blocking",                       \
     .scratch    = __VA_ARGS__}

/* A message as a block for every rank: a multiple of their number, if it is none. */
struct mg_shares {
    int            count; /* elements of one block */
    size_t         bytes;
    bool           whole;  /* nothing had to be added */
    unsigned char *one;    /* in scratch: room for a block, */
    unsigned char *padded; /* and for all of them */
};

enum { MG_LINE_BYTES = 64 };

static inline struct mg_shares mg_shares_of(const struct mg_state *state)
{
    const size_t width  = state->count > 0 ? state->bytes / (size_t) state->count : 1;
    const int    count  = (state->count + state->ranks - 1) / state->ranks;
    const size_t bytes  = (size_t) count * width;
    const size_t padded = bytes * (size_t) state->ranks;
    const size_t lines  = (padded + MG_LINE_BYTES - 1) / MG_LINE_BYTES;

    return (struct mg_shares) {.count  = count,
                               .bytes  = bytes,
                               .whole  = padded == state->bytes,
                               .one    = state->scratch + lines * MG_LINE_BYTES,
                               .padded = state->scratch};
}

/* A message as it is if it is whole, else a copy with zeros at its end. */
static inline const void *mg_padded(const struct mg_state *state, const struct mg_shares *shares,
                                    const void *message)
{
    if (shares->whole)
        return message;
    memcpy(shares->padded, message, state->bytes);
    memset(shares->padded + state->bytes, 0, shares->bytes * (size_t) state->ranks - state->bytes);
    return shares->padded;
}

/* Where the blocks of a message are to arrive, and how the message gets to recv from there. */
static inline void *mg_arriving(const struct mg_state *state, const struct mg_shares *shares)
{
    return shares->whole ? state->recv : shares->padded;
}

static inline void mg_arrived(const struct mg_state *state, const struct mg_shares *shares)
{
    if (!shares->whole)
        memcpy(state->recv, shares->padded, state->bytes);
}

static inline bool mg_is_root(const struct mg_state *state)
{
    return state->rank == state->root;
}

/* Where what this rank contributes lies: in recv, if it works in place. */
static inline unsigned char *mg_own(const struct mg_state *state)
{
    return state->in_place ? state->recv : state->send;
}

/* The same where only the root may work in place. */
static inline unsigned char *mg_own_at_root(const struct mg_state *state)
{
    return state->in_place && mg_is_root(state) ? state->recv : state->send;
}

/* Its block among those of all, likewise. */
static inline unsigned char *mg_own_block(const struct mg_state *state)
{
    return state->in_place ? state->recv + (size_t) state->rank * state->bytes : state->send;
}

#endif
