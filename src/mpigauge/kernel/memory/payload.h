/* payload.h - the memory of a visit, and what is in it. */
#ifndef MG_PAYLOAD_H
#define MG_PAYLOAD_H

#include "rounds/visits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes room for the buffers of a visit, touched and page-aligned; false if there is no memory.
 * The rank is that of the visit's group. */
bool mg_payload_reserve(const struct mg_visit *visit, int rank);

/* The same for all visits of a plan in which a rank of the world takes part, as far as there is
 * memory.  What an operation has a root for is where the ranks of its group are those of the world.
 */
void mg_payload_reserve_all(const struct mg_plan *plan, int world_rank);
void mg_payload_free(void);

/* Points state at the buffers and fills what it will send; slots is how many places a cold visit
 * walks through (1 = warm). */
void mg_payload_prepare(const struct mg_visit *visit, struct mg_state *state, int *slots_p);

/* Moves on to the next place of a cold walk. */
struct mg_walk {
    unsigned char *send_first;
    unsigned char *recv_first;
    size_t         send_stride;
    size_t         recv_stride;
    int            slots;
    int            slot;
    int            step;    /* from a slot to the next */
    uint64_t       nothing; /* 0, which no compiler knows */
};
struct mg_walk mg_payload_walk(const struct mg_visit *visit, const struct mg_state *state,
                               int slots);

/* That a walk is at its end. */
void mg_payload_walked(const struct mg_walk *walk);

/* Where the next call works depends on what the last one gave, if it says so: or what misses the
 * caches would be fetched for several calls at a time. */
static inline void mg_walk_on(struct mg_walk *walk, struct mg_state *state)
{
    const int    next  = walk->slot + walk->step;
    const size_t after = (size_t) (state->found & walk->nothing);

    walk->slot  = next >= walk->slots ? next - walk->slots : next;
    state->send = walk->send_first + (size_t) walk->slot * walk->send_stride + after;
    state->recv = walk->recv_first + (size_t) walk->slot * walk->recv_stride + after;
}

/* One untimed series of a single call, whose content is compared byte by byte.  On a mismatch
 * describes it in `words` (on rank 0 of the group, whoever found it) and returns false there. */
bool mg_payload_verify(const struct mg_visit *visit, struct mg_state *state, char *words,
                       size_t words_bytes);

#endif
