/* visits.h - the visits of a plan, in order. */
#ifndef MG_VISITS_H
#define MG_VISITS_H

#include "memory/reduction.h"
#include "patterns/pattern.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the ranks of a round start together. */
enum mg_start {
    MG_START_COMMON,      /* at a time of the global clock */
    MG_START_BARRIER,     /* after our dissemination barrier */
    MG_START_MPI_BARRIER, /* after MPI_Barrier */
};

#define MG_BYTES_MAX (INT64_C(1) << 46)

/* More than a year; sums of several of them and a clock fit 64 bits. */
#define MG_TIME_MAX_NS (INT64_C(1) << 55)

/* The numbers of a visit: type, key in the plan, minimum, maximum, default, meaning.  The parser of
 * the plan, --describe and the struct below are made from it. */
#define MG_VISIT_NUMBERS(NUMBER)                                                                  \
    NUMBER(int64_t, id, 0, INT64_MAX, -1, "comes back in the journal")                            \
    NUMBER(int, cell, 0, INT_MAX - 1, -1,                                                         \
           "number from 0; visits of one cell share it, its samples and its limits")              \
    NUMBER(size_t, bytes, 0, MG_BYTES_MAX, -1, "size of one message; for `eager`, where to end")  \
    NUMBER(int, window, 1, 1 << 20, 1, "messages in flight")                                      \
    NUMBER(size_t, pool_bytes, 0, MG_BYTES_MAX, 0,                                                \
           "what cold rounds walk through on each side; 0 is warm")                               \
    NUMBER(int, root, -1, INT_MAX, 0, "a rank; -1 is another one each round")                     \
    NUMBER(bool, in_place, 0, 1, 0, "1 for `MPI_IN_PLACE`")                                       \
    NUMBER(int, depth, 0, 1 << 16, 0,                                                             \
           "of `matching`: receives or messages that wait in front of the one that is timed")     \
    NUMBER(size_t, block_bytes, 0, MG_BYTES_MAX, 0, "of `layout`: size of its blocks")            \
    NUMBER(size_t, stride_bytes, 0, MG_BYTES_MAX, 0, "of `layout`: from a block to the next")     \
    NUMBER(int, partitions, 0, 1 << 16, 0, "of `partitioned`, `early-bird`: parts of a message")  \
    NUMBER(int, tests, 0, 1 << 16, 0,                                                             \
           "of modes that may test: calls of MPI_Test during their computation")                  \
    NUMBER(int64_t, step, 0, INT64_MAX, -1,                                                       \
           "goes with `pair` or `group`: visits that follow each other with the same number are " \
           "made at the same time, so no rank may be in two of them")                             \
    NUMBER(int, group, -1, INT_MAX - 1, -1, "of a `group` line; -1 is the first ranks of the job")

/* A group of the plan: which ranks, in their order. */
struct mg_members {
    int  id;
    int  index; /* among the groups of the plan */
    int  count;
    int  place; /* of this rank among them; -1: it is none */
    int *ranks; /* of the world */
};

/* One visit: a short uninterrupted run of rounds of one cell. */
#define MG_VISIT_NUMBER_MEMBER(type, name, least, most, usual, about) type name;
struct mg_visit {
    MG_VISIT_NUMBERS(MG_VISIT_NUMBER_MEMBER)
    const struct mg_pattern   *pattern;
    const struct mg_mode      *mode;
    int                        ranks; /* that take part */
    enum mg_start              start;
    const struct mg_datatype  *datatype; /* NULL unless the pattern reduces */
    const struct mg_operation *operation;
    enum mg_window_kind        rma_window;
    int                        pair[2]; /* world ranks, if it is a visit of a pair */
    const struct mg_members   *members; /* NULL unless it is a visit of a group of the plan */
};
#undef MG_VISIT_NUMBER_MEMBER

struct mg_plan {
    int     ranks;
    int     cores; /* of a host, which its ranks share */
    int     visits_per_cell;
    int     rounds_min; /* of a cell in this launch, before the stop rule may end it */
    int     rounds_max;
    int     precision_ppm; /* half-width of the within-launch interval to stop at */
    int64_t cell_ns;       /* time a cell should take in this launch */
    int64_t deadline_ns;   /* no visit begins later than this after the clocks are synchronised */
    int64_t warmup_ns;     /* per group of ranks, before the first visit */
    int64_t warmup_bytes;  /* largest message of the warm-up; 0: no limit */
    int64_t hang_ns;       /* without a heartbeat a visit counts as hung; 0: mpigauge watches */
    bool    watched;       /* mpigauge keeps the standard input open until the end */
    int64_t pool_caches;   /* least size of cold pools, in largest caches of a host */
    int     visits_count;
    int     cells_count;
    struct mg_visit    *visits;
    bool                has_steps;
    struct mg_members **groups; /* by ascending id */
    int                 groups_count;
};

/* Whether it is of a pair or of a group of the plan, and not of the first ranks. */
static inline bool mg_in_step(const struct mg_visit *visit)
{
    return visit->step >= 0;
}

/* The world ranks of a visit that is in a step, in the order of the group. */
static inline const int *mg_members(const struct mg_visit *visit)
{
    return visit->members != NULL ? visit->members->ranks : visit->pair;
}

static inline const struct mg_sampling *mg_sampling_of(const struct mg_visit *visit)
{
    return visit->mode->sampling != NULL ? visit->mode->sampling : visit->pattern->sampling;
}

static inline size_t mg_messages_per_call(const struct mg_visit *visit)
{
    if (visit->pattern->windowed)
        return (size_t) visit->window;
    return visit->pattern->messages > 0 ? (size_t) visit->pattern->messages : 1;
}

/* What mg_state.requests has room for. */
static inline size_t mg_requests_per_call(const struct mg_visit *visit)
{
    const int others = visit->pattern->trips == MG_TRIPS_OTHERS ? visit->ranks - 1 : 1;

    return 2 * mg_messages_per_call(visit) * (size_t) others;
}

/* Where recv is an operand too, it holds what one more rank would contribute. */
static inline struct mg_reduction mg_reduction_of(const struct mg_visit *visit)
{
    return (struct mg_reduction) {.visit     = visit->id,
                                  .ranks     = visit->ranks + (visit->pattern->accumulates ? 1 : 0),
                                  .datatype  = visit->datatype,
                                  .operation = visit->operation};
}

/* The rank of this rank of the world in the group of a visit; -1 if it takes no part. */
static inline int mg_own_place(const struct mg_visit *visit, int world_rank)
{
    if (visit->members != NULL)
        return visit->members->place;
    if (mg_in_step(visit))
        return world_rank == visit->pair[0] ? 0 : world_rank == visit->pair[1] ? 1 : -1;
    return world_rank < visit->ranks ? world_rank : -1;
}

static inline bool mg_takes_part(const struct mg_visit *visit, int world_rank)
{
    return mg_own_place(visit, world_rank) >= 0;
}

/* The world rank of a rank of its group. */
static inline int mg_world_rank(const struct mg_visit *visit, int rank)
{
    if (visit->members != NULL)
        return visit->members->ranks[rank];
    return mg_in_step(visit) ? visit->pair[rank > 0] : rank;
}

/* Whether two visits are of the same pair, of the same group of the plan, or both of the first
 * ranks.  A rank has all visits of its own pairs in its plan, even if not those of others. */
static inline bool mg_same_ranks(const struct mg_visit *a, const struct mg_visit *b)
{
    return mg_in_step(a) == mg_in_step(b) && a->members == b->members && a->pair[0] == b->pair[0] &&
           a->pair[1] == b->pair[1];
}

#endif
