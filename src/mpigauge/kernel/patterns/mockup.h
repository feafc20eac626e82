/* mockup.h - collectives composed of others, which the collective itself should not be slower than.
 *
 * Source: Hunold, Carpen-Amarie, Luebbe, Traeff, "Automatic Verification of Self-Consistent MPI
 * Performance Guidelines", Euro-Par 2016.  Copies are part of a mock-up's time; allocating
 * scratch memory is not. */
#ifndef MG_MOCKUP_H
#define MG_MOCKUP_H

#include "memory/granularity.h"
#include "patterns/collective.h"
#include "patterns/parts.h"

#include <string.h>

#define MG_MOCKUP(mode, words, ...) \
    {.name       = (mode),          \
     .about      = (words),         \
     .directions = 1,               \
     .instead_of = "blocking",      \
     .call       = __VA_ARGS__}

/* With scratch memory, MG_ONE_MESSAGE for example; other members follow. */
#define MG_MOCKUP_BESIDE(mode, words, function, ...) \
    {.name       = (mode),                           \
     .about      = (words),                          \
     .call       = (function),                       \
     .directions = 1,                                \
     .instead_of = "blocking",                       \
     .scratch    = __VA_ARGS__}

/* A message as a block per rank, padded to a multiple of the ranks. */
struct mg_shares {
    int            count; /* elements of one block */
    size_t         bytes;
    bool           whole;  /* no padding was needed */
    unsigned char *one;    /* in scratch: one block */
    unsigned char *padded; /* in scratch: all blocks */
};

static inline struct mg_shares mg_shares_of(const struct mg_state *state)
{
    const size_t width  = state->count > 0 ? state->bytes / (size_t) state->count : 1;
    const int    count  = (int) (((int64_t) state->count + state->ranks - 1) / state->ranks);
    const size_t bytes  = (size_t) count * width;
    const size_t padded = bytes * (size_t) state->ranks;
    const size_t lines  = (padded + MG_LINE_MAX_BYTES - 1) / MG_LINE_MAX_BYTES;

    return (struct mg_shares) {.count  = count,
                               .bytes  = bytes,
                               .whole  = padded == state->bytes,
                               .one    = state->scratch + lines * MG_LINE_MAX_BYTES,
                               .padded = state->scratch};
}

/* The message itself if it needs no padding, else a copy with zeros at its end. */
static inline const void *mg_padded(const struct mg_state *state, const struct mg_shares *shares,
                                    const void *message)
{
    if (shares->whole)
        return message;
    memcpy(shares->padded, message, state->bytes);
    memset(shares->padded + state->bytes, 0, shares->bytes * (size_t) state->ranks - state->bytes);
    return shares->padded;
}

/* Where the blocks of a message are received, and how they get to recv from there. */
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

/* ---- Counts, set before a series ------------------------------------------------------------- */

static inline void mg_lay_out(struct mg_state *state, int (*count_of)(const struct mg_state *, int))
{
    int before = 0;

    for (int rank = 0; rank < state->ranks; rank++) {
        state->counts[rank]        = count_of(state, rank);
        state->displacements[rank] = before;
        before += state->counts[rank];
    }
}

static inline int mg_share_of(const struct mg_state *state, int rank)
{
    const int64_t count = state->count;

    return (int) (count * (rank + 1) / state->ranks - count * rank / state->ranks);
}

static inline int mg_all_of_root(const struct mg_state *state, int rank)
{
    return rank == state->root ? state->count : 0;
}

/* A block of the same size per rank, as at the beginning of a visit. */
static inline int mg_all_alike(const struct mg_state *state, int rank)
{
    (void) rank;
    return state->count;
}

/* A message as blocks that may differ by one element, without padding. */
static inline void mg_share_out(struct mg_state *state)
{
    mg_lay_out(state, mg_share_of);
}

/* A message as the block of the root, and empty blocks for all others. */
static inline void mg_give_to_root(struct mg_state *state)
{
    mg_lay_out(state, mg_all_of_root);
}

/* ---- What a rank contributes ----------------------------------------------------------------- */

/* What this rank contributes: in place it is in recv. */
static inline unsigned char *mg_own(const struct mg_state *state)
{
    return state->in_place ? state->recv : state->send;
}

/* The same where only the root may work in place. */
static inline unsigned char *mg_own_at_root(const struct mg_state *state)
{
    return state->in_place && mg_is_root(state) ? state->recv : state->send;
}

/* The block of this rank, likewise. */
static inline unsigned char *mg_own_block(const struct mg_state *state)
{
    return state->in_place ? state->recv + (size_t) state->rank * state->bytes : state->send;
}

/* The blocks of all ranks in scratch, zero except that of this rank: their bitwise or over all
 * ranks gathers them. */
static inline void *mg_alone_among_zeros(const struct mg_state *state, const void *own)
{
    const size_t before = (size_t) state->rank * state->bytes;
    const size_t after  = (size_t) (state->ranks - state->rank - 1) * state->bytes;

    memset(state->scratch, 0, before);
    memcpy(state->scratch + before, own, state->bytes);
    memset(state->scratch + before + state->bytes, 0, after);
    return state->scratch;
}

/* Reduces all blocks on every rank, which copies its own. */
static inline void mg_allreduce_of_blocks(struct mg_state *state)
{
    MG_MPI(MPI_Allreduce(mg_own(state), state->scratch, state->ranks * state->count,
                         state->datatype, state->op, state->comm));
    memcpy(state->recv, state->scratch + (size_t) state->rank * state->bytes, state->bytes);
}

/* ---- In parts -------------------------------------------------------------------------------- */

/* In place, parts of a rank's own block are not where MPI expects them: they are sent from a copy.
 */
static inline void mg_copied_in_parts(const struct mg_state *state, int parts,
                                      void (*call)(struct mg_state *))
{
    struct mg_state apart = *state;

    apart.send     = memcpy(state->scratch, mg_own_block(state), state->bytes);
    apart.in_place = false;
    mg_in_parts(&apart, parts, call);
}

/* Sets the counts of a part if the last one had others, as a program would have to. */
static inline void mg_count_part(struct mg_state *part)
{
    if (part->counts[0] != part->count)
        mg_lay_out(part, mg_all_alike);
}

#define MG_COLLECTIVE_PARTS                                 \
    static void in_parts(struct mg_state *state, int parts) \
    {                                                       \
        mg_in_parts(state, parts, blocking);                \
    }                                                       \
    MG_PARTS_FUNCTIONS

/* Calls with counts in parts; MG_COUNTED alone if the contribution must be copied first. */
#define MG_COUNTED                             \
    static void counted(struct mg_state *part) \
    {                                          \
        mg_count_part(part);                   \
        blocking(part);                        \
    }
#define MG_COUNTED_PARTS                                    \
    MG_COUNTED                                              \
    static void in_parts(struct mg_state *state, int parts) \
    {                                                       \
        mg_in_parts(state, parts, counted);                 \
    }                                                       \
    MG_PARTS_FUNCTIONS

#endif
