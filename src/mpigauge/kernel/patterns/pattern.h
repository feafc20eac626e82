/* pattern.h - what a pattern sees of a visit, and what it says of itself. */
#ifndef MG_PATTERN_H
#define MG_PATTERN_H

#include "patterns/volume.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mg_sampling;

enum {
    MG_WORDS_BYTES  = 256, /* of a sentence about a wrong payload */
    MG_TRIPS_RANKS  = -1,  /* mg_pattern.trips: one operation for every rank */
    MG_TRIPS_REPEAT = -2,  /* mg_pattern.trips: mg_state.repeats of them */
};

/* ---- What a pattern sees --------------------------------------------------------------------- */

/* One rank's view of a visit.  send and recv are separate memory; in a window, message i is sent
 * from send + i * send_step and received at recv + i * recv_step.  Where a pattern has a block for
 * every rank, block i begins at i * bytes. */
struct mg_state {
    MPI_Comm       comm; /* of the ranks that take part, at least 2 for messages */
    int            rank;
    int            ranks;
    size_t         bytes;
    int            window;
    unsigned char *send;
    unsigned char *recv;
    size_t         send_step;
    size_t         recv_step;
    MPI_Request   *requests; /* room for 2 * window, or 2 if that is more */
    void          *attached; /* buffered mode: the memory lent to MPI */
    unsigned char *scratch;  /* as much as the mode asks for, or NULL */

    int          count; /* elements of datatype in `bytes` */
    MPI_Datatype datatype;
    MPI_Op       op;
    int          root;
    int          turn; /* whose turn it is, of patterns that go around */
    bool         in_place;
    int         *counts; /* v-variants: elements and place of every rank's block */
    int         *displacements;
    int send_blocks;     /* of `bytes` that are sent, at a root if there is one: 1, or one for every
                            rank */
    int     recv_blocks; /* that this rank has room to receive, or in place to send and receive */
    int     repeats;     /* of an operation that may be shorter than calling a function */
    int64_t work;        /* steps of computation to hide communication behind */

    uint64_t       found;  /* by the last call, where the next must not begin before */
    unsigned char *shared; /* the same memory on all ranks of the group, or NULL */
};

/* What must be at recv + at after a call: what `source` has at its send + from, or, if there is an
 * operation, the reduction of that over `ranks` ranks from `source` on. */
struct mg_piece {
    size_t at;
    size_t from;
    size_t bytes;
    int    source;
    int    ranks;
};

/* What a pattern is about: tables, figures and sentences go by it. */
enum mg_family {
    MG_FAMILY_NONE,
    MG_MESSAGE,    /* messages from rank to rank */
    MG_COLLECTIVE, /* an operation of all ranks */
    MG_MEMORY,     /* what messages are measured by: copies, loads, a line handed over */
    MG_PROBE,      /* a limit instead of a time */
    MG_FLOOR,      /* what the instrument itself costs */
};

/* A way of doing a pattern.  begin and finish surround a series of calls, untimed; either may be
 * NULL.  Every rank of the group runs all three. */
struct mg_mode {
    const char *name;
    const char *about;
    void (*begin)(struct mg_state *state);
    void (*call)(struct mg_state *state);
    void (*finish)(struct mg_state *state);
    int (*source)(const struct mg_state *state); /* whose payload ends up in recv; -1 = nobody's */
    int  needs_mpi;       /* version of the standard that brought its calls; 0 = any */
    int  directions;      /* messages under way at once between a pair: 1, or 2 = both directions */
    bool needs_eager;     /* deadlocks above the eager limit, so it is never started there */
    bool binds_buffers;   /* all calls work in the same buffers: cold ones cannot be walked */
    bool attaches_buffer; /* lends MPI four messages of memory, counted by an int */
    bool overlaps;        /* computes between start and wait */
    bool counts_all;      /* an int counts, or places, the blocks of all ranks together */
    bool room_everywhere; /* needs at every rank the room for all blocks that a root alone has */
    bool in_a_row;        /* a sample is several calls from one start, as the clock needs */
    bool never_eager;     /* returns only when the receive has begun, however small the message */
    const char *baseline; /* of memory: the ratio of a message's time to that of this; or NULL */
    /* Name of the mode that does the same and should not be slower than this one; or NULL. */
    const char      *instead_of;
    int              parts;   /* how many calls share the message: parts.h; 0 = it is in one call */
    struct mg_volume scratch; /* memory of each rank beside send and recv: see mg_state.scratch */
};

/* Which bus bandwidth the field gives beside bytes / time, and for how many blocks. */
enum mg_bus {
    MG_BUS_NONE,
    MG_BUS_SAME,   /* as the algorithm bandwidth */
    MG_BUS_OTHERS, /* times (p - 1) / p: nobody sends to itself */
    MG_BUS_TWICE,  /* times 2 (p - 1) / p: reduce, then spread */
};

/* Whose processor a time is of, where it is that of a call and not of a message. */
enum mg_overhead { MG_OF_NOBODY, MG_OF_SEND, MG_OF_RECEIVE };

struct mg_pattern {
    const char               *name;
    const char               *about;
    const char               *time_of; /* what one reported time is */
    enum mg_family            family;
    const struct mg_sampling *sampling;
    int                       min_ranks;
    int                       active_ranks; /* how many take part; 0 = all */
    int                       trips;        /* reported operations in one call; 0 = the window */
    bool                      windowed;     /* uses window and its receive slots */
    bool                      moves_bytes;  /* the size is that of a message; rates make sense */
    bool                      spans_bytes;  /* the size is that of the memory worked on: no rate */
    size_t                    unit_bytes; /* sizes are multiples of it; 0 = any, also empty ones */
    int64_t          least_ns;      /* a sample lasts at least so long; 0 = what the clock needs */
    bool             send_each;     /* a block for every rank to send */
    bool             recv_each;     /* a block from every rank to receive */
    bool             reduces;       /* takes datatype and operation */
    bool             rooted;        /* has a root */
    bool             may_in_place;  /* has a form with MPI_IN_PLACE */
    bool             accumulates;   /* recv is the second operand: it holds what rank + 1 sends */
    bool             counts_all;    /* as of a mode, in all modes */
    bool             synchronises;  /* nobody may leave before everybody has come */
    bool             shares_memory; /* needs mg_state.shared, `bytes` after MG_PAGE_MOST_BYTES */
    bool             one_way;       /* its time is that of one message, or line, one way */
    enum mg_overhead overhead;      /* times a call alone: no rate makes sense */
    enum mg_bus      bus;
    struct mg_volume wire; /* what must cross between ranks, whatever the algorithm */
    void (*prepare)(struct mg_state *state);  /* before every call */
    void (*baseline)(struct mg_state *state); /* the empty round trip of a turn */
    /* Piece i of what must be received; false after the last one.  NULL: the mode's source. */
    bool (*piece)(const struct mg_state *state, int i, struct mg_piece *piece);
    /* What is wrong after a call beyond pieces, in words; false if something is. */
    bool (*check)(const struct mg_state *state, char *words, size_t words_bytes);
    const struct mg_mode *modes; /* MG_MODES(...); the first is the default */
};

static inline bool mg_counts_all(const struct mg_pattern *pattern, const struct mg_mode *mode)
{
    return pattern->counts_all || mode->counts_all;
}

/* So many modes as there are, and the nameless one that ends them. */
#define MG_MODES(...) ((const struct mg_mode[]) {__VA_ARGS__, {.name = NULL}})

#endif
