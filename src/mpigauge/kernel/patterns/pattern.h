/* pattern.h - the interface of patterns: the state of a visit, and the descriptors. */
#ifndef MG_PATTERN_H
#define MG_PATTERN_H

#include "patterns/traits.h"
#include "patterns/volume.h"
#include "patterns/window.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mg_mode;
struct mg_sampling;

enum {
    MG_ERROR_BYTES  = 256, /* sentence about a wrong payload */
    MG_TRIPS_RANKS  = -1,  /* mg_pattern.trips: one operation per rank */
    MG_TRIPS_REPEAT = -2,  /* mg_pattern.trips: mg_state.repeats operations */
    MG_TRIPS_PAIRS  = -3,  /* mg_pattern.trips: the window of each pair of ranks */
    MG_TRIPS_OTHERS = -4,  /* mg_pattern.trips: the window of all ranks but the root */
};

/* ---- The state of a visit -------------------------------------------------------------------- */

/* The ranks whose rounds start together: those of the group, or of all groups of a step. */
struct mg_starters {
    MPI_Comm comm;
    int      rank;
    int      ranks;
    int      key; /* the same for the same ranks, in the launch */
};

/* Room for what a mode keeps in a visit.  It is not from malloc: calls that allocate take other
 * ways through a heap that has one block more (MPI_Type_commit of Intel MPI: 5 %). */
union mg_room {
    max_align_t   align;
    unsigned char bytes[256];
};

/* A visit on one rank.  send and recv are separate memory; in a window, message i is sent from
 * send + i * send_step and received at recv + i * recv_step.  If a pattern has a block per rank,
 * block i begins at i * bytes. */
struct mg_state {
    const struct mg_mode *mode;
    void                 *own;  /* what the mode keeps in a visit: mg_kept(), or NULL */
    union mg_room        *room; /* of that */
    MPI_Comm              comm; /* of the ranks that take part */
    int                   rank;
    int                   ranks;
    size_t                bytes;
    int                   window;
    int                   calls; /* that follow one preparation */
    unsigned char        *send;
    unsigned char        *recv;
    size_t                send_step;
    size_t                recv_step;
    MPI_Request          *requests; /* mg_requests_per_call() */
    void                 *attached; /* buffered mode: the memory lent to MPI */
    unsigned char        *scratch;  /* as much as the mode needs, or NULL */

    int           count; /* elements of datatype in `bytes` */
    MPI_Datatype  datatype;
    MPI_Op        op;
    int           root;
    int           turn; /* the active rank, in patterns that rotate */
    bool          in_place;
    int          *counts; /* v-variants: elements and displacement per rank */
    int          *displacements;
    MPI_Datatype *types; /* MPI_BYTE per rank, for the w-variant */
    MPI_Group     group; /* of all ranks, where a pattern makes a communicator of it */
    int send_blocks;     /* of `bytes` that are sent, at a root if there is one: 1, or one for every
                            rank */
    int     recv_blocks; /* that this rank receives, or in place sends and receives */
    int     repeats;     /* of an operation that may be shorter than a function call */
    int64_t work;        /* steps of computation to overlap with communication */

    int    depth;        /* messages or receives that wait in front */
    size_t block_bytes;  /* of a layout with gaps, ... */
    size_t stride_bytes; /* ... and from one block to the next */
    int    partitions;   /* of a partitioned message */
    int    tests;        /* calls of MPI_Test during a computation */

    uint64_t       found;  /* result of the last call, on which the next depends: mg_walk_on */
    unsigned char *shared; /* the same memory on all ranks of the group, or NULL */

    const struct mg_window *rma; /* where one-sided operations go, or NULL */

    struct mg_starters starters;
};

/* Expected content: recv + at must hold what `source` has at its send + from, or in a reduction the
 * result over `ranks` ranks from `source` on. */
struct mg_piece {
    size_t at;
    size_t from;
    size_t bytes;
    int    source;
    int    ranks;
};

/* Kinds of patterns, which tables and figures keep apart. */
enum mg_family {
    MG_FAMILY_NONE,
    MG_MESSAGE,    /* messages from rank to rank */
    MG_COLLECTIVE, /* an operation of all ranks */
    MG_ONE_SIDED,  /* an operation on the memory of another rank */
    MG_MEMORY,     /* baselines: copies, loads, a cache line between cores */
    MG_PROBE,      /* finds a limit instead of a time */
    MG_FLOOR,      /* the cost of the measurement itself */
    MG_STARTUP,    /* what programs do once: communicators, sessions, datatypes */
};

/* One side of a message. */
enum mg_side { MG_OF_NOBODY, MG_OF_SEND, MG_OF_RECEIVE };

/* A variant of a pattern.  begin and finish are called untimed around a series of calls and may be
 * NULL.  Every rank of the group calls all three. */
struct mg_mode {
    const char *name;
    MG_MODE_TRAITS(MG_TRAIT_MEMBER, MG_TOLD_MEMBER, MG_NO_MEMBER, MG_TRAIT_MEMBER)
    void (*begin)(struct mg_state *state);
    void (*call)(struct mg_state *state);
    void (*finish)(struct mg_state *state);
    void (*prepare)(struct mg_state *state);     /* untimed before every common start, or before
                                                    mg_state.calls calls; or NULL */
    int (*source)(const struct mg_state *state); /* whose payload arrives in recv; -1 = none */
};

/* The factor of bus bandwidth over algorithm bandwidth, bytes / time. */
enum mg_bus {
    MG_BUS_NONE,
    MG_BUS_SAME,   /* 1 */
    MG_BUS_OTHERS, /* (p - 1) / p: no rank sends to itself */
    MG_BUS_TWICE,  /* 2 (p - 1) / p: reduce, then distribute */
};

/* Which ranks a smaller number of senders has: pairs of a first and a second half, or rank 0 and
 * others. */
enum mg_senders { MG_SENDERS_FIXED, MG_SENDERS_OF_PAIRS, MG_SENDERS_AND_ONE };

struct mg_pattern {
    const char *name;
    MG_PATTERN_TRAITS(MG_TRAIT_MEMBER, MG_TOLD_MEMBER, MG_NO_MEMBER, MG_TRAIT_MEMBER)
    /* Once, on all ranks of the world, if the plan has the pattern: what its first use needs of
     * ranks that do not take part. */
    void (*first_use)(MPI_Comm world);
    /* Why a mode cannot be measured, on a rank of its group; NULL if it can. */
    const char *(*refuse)(const struct mg_mode *mode, const struct mg_state *state);
    void (*prepare)(struct mg_state *state); /* before every call */
    /* An empty round trip, half of which is not part of the time of a call: the answer of another
     * rank. */
    void (*baseline)(struct mg_state *state);
    /* Piece i of what must be received; false after the last.  NULL: one message from mode.source.
     */
    bool (*piece)(const struct mg_state *state, int i, struct mg_piece *piece);
    /* A further check after a call; false, with a sentence, if something is wrong. */
    bool (*check)(const struct mg_state *state, char *error, size_t error_bytes);
    const struct mg_mode *modes; /* MG_MODES(...); the first is the default */
};

/* The other one of two ranks. */
static inline int mg_other(const struct mg_state *state)
{
    return 1 - state->rank;
}

/* For mg_mode.source: rank 1 receives what rank 0 sends, or the other way round. */
static inline int mg_zero_to_one(const struct mg_state *state)
{
    return state->rank == 1 ? 0 : -1;
}

static inline int mg_one_to_zero(const struct mg_state *state)
{
    return state->rank == 0 ? 1 : -1;
}

static inline bool mg_counts_all(const struct mg_pattern *pattern, const struct mg_mode *mode)
{
    return pattern->counts_all || mode->counts_all;
}

/* Whether what its call gives is compared with what it must be. */
static inline bool mg_mode_compares(const struct mg_pattern *pattern, const struct mg_mode *mode)
{
    return pattern->piece != NULL || pattern->check != NULL || mode->source != NULL;
}

/* Whether it computes for as long as the operation takes, in which case that is timed without the
 * computation first. */
static inline bool mg_computes_as_long(const struct mg_mode *mode)
{
    return mode->overlaps || mode->computes_first;
}

/* An array of modes that ends with a nameless one. */
#define MG_MODES(...) ((const struct mg_mode[]) {__VA_ARGS__, {.name = NULL}})

#endif
