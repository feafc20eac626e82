/* payload.h - the buffers of a visit, their content, and its verification. */
#ifndef MG_PAYLOAD_H
#define MG_PAYLOAD_H

#include "memory/kinds.h"
#include "rounds/visits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Allocates the buffers of a visit, touched and page-aligned; false if there is no memory.
 * rank: in the group of the visit */
bool mg_payload_reserve(const struct mg_visit *visit, int rank);

/* The same for all visits in which a world rank takes part, as far as there is memory. */
void mg_payload_reserve_all(const struct mg_plan *plan, int world_rank);
void mg_payload_free(void);

/* How much of its memory each rank must expose for a one-sided visit. */
size_t mg_payload_exposed(const struct mg_visit *visit);

/* Sets the buffers of state and fills what it sends; slots is how many positions a cold visit walks
 * through (1 = warm). */
void mg_payload_prepare(const struct mg_visit *visit, struct mg_state *state, int *slots_p);

/* A walk through memory, so that every call of a cold visit uses data that are not in a cache. */
struct mg_walk {
    unsigned char *send_first;
    unsigned char *recv_first;
    size_t         send_stride;
    size_t         recv_stride;
    int            slots;
    int            slot;
    int            step; /* from a slot to the next */
    uint64_t       zero; /* not a constant for the compiler */
};
struct mg_walk mg_payload_walk(const struct mg_visit *visit, const struct mg_state *state,
                               int slots);

/* Remembers where the walk ended, for the next one. */
void mg_payload_walk_end(const struct mg_walk *walk);

/* Moves on to the next slot.  Its address depends on the result of the last call if that sets
 * state->found; otherwise the processor would overlap the cache misses of several calls. */
static inline void mg_walk_on(struct mg_walk *walk, struct mg_state *state)
{
    const int    next  = walk->slot + walk->step;
    const size_t after = (size_t) (state->found & walk->zero);

    walk->slot  = next >= walk->slots ? next - walk->slots : next;
    state->send = walk->send_first + (size_t) walk->slot * walk->send_stride + after;
    state->recv = walk->recv_first + (size_t) walk->slot * walk->recv_stride + after;
}

/* Whether anything that a call gives can be compared: content, or what a pattern checks. */
bool mg_payload_compares(const struct mg_visit *visit);

/* Makes one untimed call and compares its payload byte by byte.  If anything is wrong on any rank,
 * rank 0 of the group returns false and has a sentence about it in `error`. */
bool mg_payload_verify(const struct mg_visit *visit, struct mg_state *state, char *error,
                       size_t error_bytes);

#endif
