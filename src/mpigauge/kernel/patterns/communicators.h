/* communicators.h - patterns that make something and free it, one at a time: libraries have few
 * context ids. */
#ifndef MG_COMMUNICATORS_H
#define MG_COMMUNICATORS_H

#include "patterns/pattern.h"
#include "ranks/abort.h"

#include <stdio.h>

/* Members of a pattern whose call makes something and frees it; it has no size. */
#define MG_MADE_AND_FREED                                                                \
    .time_of = "both calls, from the first start to the last end", .family = MG_STARTUP, \
    .sampling = &mg_sampling_common, .min_ranks = 1, .trips = 1

/* How the mode of the visit makes a communicator. */
static MPI_Comm (*mg_maker)(struct mg_state *state);

/* One more, in the same way: to be checked. */
static inline MPI_Comm mg_make_one(const struct mg_state *state)
{
    struct mg_state apart = *state;

    return mg_maker(&apart);
}

/* The begin and the call of a mode that makes a communicator by a function and frees it. */
#define MG_MAKES(name, maker)                        \
    static void name##_begin(struct mg_state *state) \
    {                                                \
        (void) state;                                \
        mg_maker = (maker);                          \
    }                                                \
    static void name(struct mg_state *state)         \
    {                                                \
        MPI_Comm made = maker(state);                \
                                                     \
        MG_MPI(MPI_Comm_free(&made));                \
    }

/* Whether a communicator has so many ranks, and this one in its place.  Frees it. */
static inline bool mg_is_made(MPI_Comm made, int ranks, int rank, char *error, size_t error_bytes)
{
    int found_ranks = 0;
    int found_rank  = 0;

    MG_MPI(MPI_Comm_size(made, &found_ranks));
    MG_MPI(MPI_Comm_rank(made, &found_rank));
    MG_MPI(MPI_Comm_free(&made));
    if (found_ranks == ranks && found_rank == rank)
        return true;
    (void) snprintf(error, error_bytes,
                    "a new communicator has this process as rank %d of %d instead of %d of %d",
                    found_rank, found_ranks, rank, ranks);
    return false;
}

#endif
