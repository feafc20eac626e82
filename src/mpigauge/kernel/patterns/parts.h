/* parts.h - an operation split into several calls, each with a part of the message, which should
 * not be faster than one call with all of it.
 *
 * Parts are whole elements.  If there are blocks, every part has a piece of each block; parts are
 * contiguous, and nothing is rearranged.  A message with fewer elements than parts takes fewer
 * calls, and an empty one takes one call.
 *
 * Source: Hunold, Carpen-Amarie, Luebbe, Traeff, "Automatic Verification of Self-Consistent MPI
 * Performance Guidelines", Euro-Par 2016: split-robustness. */
#ifndef MG_PARTS_H
#define MG_PARTS_H

#include "patterns/pattern.h"

enum { MG_HALVES = 2, MG_QUARTERS = 4, MG_EIGHTHS = 8 };

/* How many calls a message takes. */
static inline int mg_parts_of(const struct mg_state *state, int parts)
{
    const int elements = state->count > 0 || state->bytes == 0 ? state->count : parts;

    return elements >= parts ? parts : elements > 1 ? elements : 1;
}

/* Where part i begins, in bytes of one block. */
static inline size_t mg_part_begin(const struct mg_state *state, int parts, int i)
{
    const size_t width    = state->count > 0 ? state->bytes / (size_t) state->count : 1;
    const size_t elements = state->bytes / width;

    return elements * (size_t) i / (size_t) parts * width;
}

/* The state for part i, as of a smaller message. */
static inline struct mg_state mg_part_of(const struct mg_state *state, int parts, int i)
{
    const size_t    begin = mg_part_begin(state, parts, i);
    const size_t    bytes = mg_part_begin(state, parts, i + 1) - begin;
    struct mg_state part  = *state;

    part.bytes = bytes;
    if (state->count > 0)
        part.count = (int) (bytes / (state->bytes / (size_t) state->count));
    part.send += begin * (size_t) state->send_blocks;
    part.recv += begin * (size_t) state->recv_blocks;
    return part;
}

static inline void mg_in_parts(const struct mg_state *state, int parts,
                               void (*call)(struct mg_state *))
{
    const int calls = mg_parts_of(state, parts);

    for (int i = 0; i < calls; i++) {
        struct mg_state part = mg_part_of(state, calls, i);

        call(&part);
    }
}

/* The calls of the modes below, for a pattern with a function in_parts(state, parts). */
#define MG_PARTS_FUNCTIONS                       \
    static void halves(struct mg_state *state)   \
    {                                            \
        in_parts(state, MG_HALVES);              \
    }                                            \
    static void quarters(struct mg_state *state) \
    {                                            \
        in_parts(state, MG_QUARTERS);            \
    }                                            \
    static void eighths(struct mg_state *state)  \
    {                                            \
        in_parts(state, MG_EIGHTHS);             \
    }

/* Modes that are alternatives to `mode`; other members follow. */
#define MG_PARTS_MODE(function, number, words, mode, ...)                        \
    {.name       = #function,                                                    \
     .about      = words " in " #number " calls, each with a part of the bytes", \
     .call       = (function),                                                   \
     .instead_of = (mode),                                                       \
     .parts      = (number),                                                     \
     __VA_ARGS__}
#define MG_PARTS_MODES(words, mode, ...)                      \
    MG_PARTS_MODE(halves, 2, words, mode, __VA_ARGS__),       \
        MG_PARTS_MODE(quarters, 4, words, mode, __VA_ARGS__), \
        MG_PARTS_MODE(eighths, 8, words, mode, __VA_ARGS__)

#endif
