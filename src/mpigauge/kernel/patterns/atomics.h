/* atomics.h - MPI_Fetch_and_op and MPI_Compare_and_swap on a word of 4 or 8 bytes.
 *
 * A rank keeps operand, result and comparison in its scratch memory, apart from each other. */
#ifndef MG_ATOMICS_H
#define MG_ATOMICS_H

#include "memory/payload.h"
#include "patterns/rma.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MG_WORD_MIN = 4, MG_WORD_MAX = 8, MG_WORD_APART = 64 };

/* What a mode of atomic operations needs. */
#define MG_WORD_ROOM .scratch = MG_ONE_MESSAGE, .most_bytes = MG_WORD_MAX

static inline unsigned char *mg_operand(const struct mg_state *state)
{
    return state->scratch;
}

static inline unsigned char *mg_result(const struct mg_state *state)
{
    return state->scratch + MG_WORD_APART;
}

static inline unsigned char *mg_comparison(const struct mg_state *state)
{
    return state->scratch + 2 * (size_t) MG_WORD_APART;
}

static inline MPI_Datatype mg_word_type(const struct mg_state *state)
{
    return state->bytes == MG_WORD_MIN ? MPI_UINT32_T : MPI_UINT64_T;
}

static inline uint64_t mg_word_at(const struct mg_state *state, const unsigned char *place)
{
    uint32_t narrow = 0;
    uint64_t wide   = 0;

    if (state->bytes == MG_WORD_MIN) {
        memcpy(&narrow, place, sizeof narrow);
        return narrow;
    }
    memcpy(&wide, place, sizeof wide);
    return wide;
}

static inline void mg_word_set(const struct mg_state *state, unsigned char *place, uint64_t value)
{
    const uint32_t narrow = (uint32_t) value;

    if (state->bytes == MG_WORD_MIN)
        memcpy(place, &narrow, sizeof narrow);
    else
        memcpy(place, &value, sizeof value);
}

/* What the word holds before the call that is checked. */
static inline uint64_t mg_word_before(const struct mg_state *state)
{
    unsigned char poison[MG_WORD_MAX];

    memset(poison, MG_POISON, sizeof poison);
    return mg_word_at(state, poison);
}

/* ---- Fetch and add ---- */

static inline void mg_fetch_begin(struct mg_state *state)
{
    mg_word_set(state, mg_operand(state), 1);
}

static inline void mg_fetch_and_add(struct mg_state *state, int rank)
{
    MG_MPI(MPI_Fetch_and_op(mg_operand(state), mg_result(state), mg_word_type(state), rank,
                            mg_place_received(state, 0, rank), MPI_SUM, state->rma->win));
}

/* Whether each of `count` results is there once, from `before` on. */
static inline bool mg_are_distinct(const uint64_t *results, int count, uint64_t before)
{
    bool *seen = calloc((size_t) count, sizeof *seen);
    bool  fine = seen != NULL;

    for (int i = 0; fine && i < count; i++) {
        const uint64_t place = results[i] - before;

        fine = place < (uint64_t) count && !seen[place];
        if (fine)
            seen[place] = true;
    }
    free(seen);
    return fine;
}

/* Checks one call of ranks `first` to `first + actors - 1` on the word of rank `target`.
 * Collective over the group. */
static inline bool mg_fetch_check(const struct mg_state *state, int first, int actors, int target,
                                  char *error, size_t error_bytes)
{
    const uint64_t before  = mg_word_before(state);
    const uint64_t result  = mg_word_at(state, mg_result(state));
    uint64_t      *results = calloc((size_t) state->ranks, sizeof *results);

    if (results == NULL)
        MG_DIE("no memory for the results of %d ranks", state->ranks);
    MG_MPI(MPI_Allgather(&result, 1, MPI_UINT64_T, results, 1, MPI_UINT64_T, state->comm));
    const bool distinct = mg_are_distinct(results + first, actors, before);
    free(results);
    if (!distinct) {
        (void) snprintf(error, error_bytes,
                        "%d ranks fetched and added, but what they got is not each value once",
                        actors);
        return false;
    }
    if (state->rank != target || mg_word_at(state, state->recv) == before + (uint64_t) actors)
        return true;
    (void) snprintf(error, error_bytes, "%d calls that add 1 have added %" PRIu64, actors,
                    mg_word_at(state, state->recv) - before);
    return false;
}

/* ---- Compare and swap ---- */

/* The first comparison is with what the word holds when it is checked. */
static inline void mg_swap_begin(struct mg_state *state)
{
    mg_word_set(state, mg_comparison(state), mg_word_before(state));
    mg_word_set(state, mg_operand(state), (uint64_t) state->rank + 1);
}

static inline void mg_swap(struct mg_state *state, int rank)
{
    MG_MPI(MPI_Compare_and_swap(mg_operand(state), mg_comparison(state), mg_result(state),
                                mg_word_type(state), rank, mg_place_received(state, 0, rank),
                                state->rma->win));
}

/* After a swap the next one is to a new value; otherwise the next comparison is with what is there.
 * The last result stays where it is. */
static inline void mg_swap_next(struct mg_state *state)
{
    const uint64_t found = mg_word_at(state, mg_result(state));

    if (found == mg_word_at(state, mg_comparison(state))) {
        const uint64_t mine = mg_word_at(state, mg_operand(state));

        mg_word_set(state, mg_comparison(state), mine);
        mg_word_set(state, mg_operand(state), mine + (uint64_t) state->ranks);
    } else {
        mg_word_set(state, mg_comparison(state), found);
    }
}

/* As mg_fetch_check: exactly one rank must have found the old value, and its own must be there. */
static inline bool mg_swap_check(const struct mg_state *state, int first, int actors, int target,
                                 char *error, size_t error_bytes)
{
    const bool acts      = state->rank >= first && state->rank < first + actors;
    const bool won       = acts && mg_word_at(state, mg_result(state)) == mg_word_before(state);
    uint64_t   winners[] = {won, won ? (uint64_t) state->rank + 1 : 0};

    MG_MPI(MPI_Allreduce(MPI_IN_PLACE, winners, 2, MPI_UINT64_T, MPI_SUM, state->comm));
    if (winners[0] != 1) {
        (void) snprintf(error, error_bytes,
                        "of %d ranks that compared and swapped, %" PRIu64 " won instead of one",
                        actors, winners[0]);
        return false;
    }
    if (state->rank != target || mg_word_at(state, state->recv) == winners[1])
        return true;
    (void) snprintf(error, error_bytes,
                    "the word holds %" PRIu64 " and not %" PRIu64 " of the rank that swapped",
                    mg_word_at(state, state->recv), winners[1]);
    return false;
}

#endif
