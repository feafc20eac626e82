/* collective.h - modes that every collective has.
 *
 * A pattern defines ARGUMENTS, the arguments that all forms of the call share, and its functions by
 * MG_COLLECTIVE(Allreduce, Iallreduce); its modes are MG_COLLECTIVE_MODES, or MG_USUAL_MODES and
 * those of mockup.h. */
#ifndef MG_COLLECTIVE_H
#define MG_COLLECTIVE_H

#include "patterns/computing.h"
#include "patterns/calls.h"

/* The send buffer, or MPI_IN_PLACE. */
static inline const void *mg_in(const struct mg_state *state)
{
    return state->in_place ? MPI_IN_PLACE : state->send;
}

/* The same where only the root may use MPI_IN_PLACE. */
static inline const void *mg_in_at_root(const struct mg_state *state)
{
    return state->in_place && state->rank == state->root ? MPI_IN_PLACE : state->send;
}

/* The receive buffer, or MPI_IN_PLACE at the root. */
static inline void *mg_out_at_root(const struct mg_state *state)
{
    return state->in_place && state->rank == state->root ? MPI_IN_PLACE : state->recv;
}

/* Expected content of several collectives. */
static inline bool mg_blocks_of_all(const struct mg_state *state, int i, struct mg_piece *piece)
{
    *piece = (struct mg_piece) {
        .at = (size_t) i * state->bytes, .bytes = state->bytes, .source = i, .ranks = 1};
    return i < state->ranks;
}

static inline bool mg_blocks_at_root(const struct mg_state *state, int i, struct mg_piece *piece)
{
    return mg_blocks_of_all(state, i, piece) && state->rank == state->root;
}

/* Every rank sends this one the block with the number of this rank. */
static inline bool mg_own_blocks(const struct mg_state *state, int i, struct mg_piece *piece)
{
    *piece = (struct mg_piece) {.at     = (size_t) i * state->bytes,
                                .from   = (size_t) state->rank * state->bytes,
                                .bytes  = state->bytes,
                                .source = i};
    return i < state->ranks;
}

static inline bool mg_own_block_of_root(const struct mg_state *state, int i, struct mg_piece *piece)
{
    *piece = (struct mg_piece) {
        .from = (size_t) state->rank * state->bytes, .bytes = state->bytes, .source = state->root};
    return i == 0 && !(state->in_place && state->rank == state->root);
}

static inline bool mg_reduced_over_all(const struct mg_state *state, int i, struct mg_piece *piece)
{
    *piece = (struct mg_piece) {.bytes = state->bytes, .source = 0, .ranks = state->ranks};
    return i == 0;
}

/* Every rank gets the reduction of the blocks with its number. */
static inline bool mg_own_block_reduced(const struct mg_state *state, int i, struct mg_piece *piece)
{
    *piece = (struct mg_piece) {.from   = (size_t) state->rank * state->bytes,
                                .bytes  = state->bytes,
                                .source = 0,
                                .ranks  = state->ranks};
    return i == 0;
}

#define MG_BLOCKING(Call)                        \
    static void blocking(struct mg_state *state) \
    {                                            \
        MG_MPI(MPI_##Call(ARGUMENTS));           \
    }

#define MG_NONBLOCKING(Icall)                            \
    static void nonblocking(struct mg_state *state)      \
    {                                                    \
        MG_MPI(MPI_##Icall(ARGUMENTS, state->requests)); \
        mg_wait(state->requests);                        \
    }                                                    \
    static void overlap(struct mg_state *state)          \
    {                                                    \
        MG_MPI(MPI_##Icall(ARGUMENTS, state->requests)); \
        mg_compute(state, state->requests);              \
        mg_wait(state->requests);                        \
    }

/* Open MPI has them since 5.0, although it reports MPI 3.1. */
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define MG_PERSISTENT(Call_init)                                            \
    static void persistent_begin(struct mg_state *state)                    \
    {                                                                       \
        MG_MPI(MPI_##Call_init(ARGUMENTS, MPI_INFO_NULL, state->requests)); \
    }                                                                       \
    static void persistent(struct mg_state *state)                          \
    {                                                                       \
        MG_MPI(MPI_Start(state->requests));                                 \
        mg_wait(state->requests);                                           \
    }                                                                       \
    static void persistent_overlap(struct mg_state *state)                  \
    {                                                                       \
        MG_MPI(MPI_Start(state->requests));                                 \
        mg_compute(state, state->requests);                                 \
        mg_wait(state->requests);                                           \
    }                                                                       \
    static void persistent_finish(struct mg_state *state)                   \
    {                                                                       \
        MG_MPI(MPI_Request_free(state->requests));                          \
    }
#define MG_PERSISTENT_MODE(Call)                                                                    \
    ,                                                                                               \
        {.name          = "persistent",                                                             \
         .about         = "MPI_" #Call "_init once, then MPI_Start and MPI_Wait",                   \
         .begin         = persistent_begin,                                                         \
         .call          = persistent,                                                               \
         .finish        = persistent_finish,                                                        \
         .directions    = 1,                                                                        \
         .binds_buffers = true,                                                                     \
         .needs_mpi     = 4},                                                                       \
        {.name          = "persistent-overlap",                                                     \
         .about         = "MPI_" #Call                                                              \
                          "_init once, then MPI_Start, a computation that takes as long, MPI_Wait", \
         .begin         = persistent_begin,                                                         \
         .call          = persistent_overlap,                                                       \
         .finish        = persistent_finish,                                                        \
         .directions    = 1,                                                                        \
         .overlaps      = true,                                                                     \
         .may_test      = true,                                                                     \
         .binds_buffers = true,                                                                     \
         .needs_mpi     = 4}
#else
#define MG_PERSISTENT(Call_init)
#define MG_PERSISTENT_MODE(Call)
#endif

#define MG_COLLECTIVE(Call, Icall) \
    MG_BLOCKING(Call)              \
    MG_NONBLOCKING(Icall)          \
    MG_PERSISTENT(Call##_init)

#define MG_USUAL_MODES(Call, Icall)                                                    \
    {.name = "blocking", .about = "MPI_" #Call, .call = blocking, .directions = 1},    \
        {.name       = "nonblocking",                                                  \
         .about      = "MPI_" #Icall " and MPI_Wait",                                  \
         .call       = nonblocking,                                                    \
         .directions = 1,                                                              \
         .instead_of = "blocking"},                                                    \
        {.name       = "overlap",                                                      \
         .about      = "MPI_" #Icall ", a computation that takes as long, MPI_Wait",   \
         .call       = overlap,                                                        \
         .directions = 1,                                                              \
         .overlaps   = true,                                                           \
         .may_test   = true} MG_PERSISTENT_MODE(Call),                                 \
    {                                                                                  \
        .name = "blocks", .about = "MPI_" #Call " some times in a row from one start", \
        .call = blocking, .directions = 1, .binds_buffers = true, .in_a_row = true     \
    }

#define MG_COLLECTIVE_MODES(Call, Icall) MG_MODES(MG_USUAL_MODES(Call, Icall))

#endif
