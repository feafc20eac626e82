/* payload.h - the memory of a visit, and what is in it. */
#ifndef MG_PAYLOAD_H
#define MG_PAYLOAD_H

#include "rounds/visits.h"

#include <stdbool.h>
#include <stddef.h>

/* Makes room for the buffers of a visit, touched and page-aligned; false if there is no memory. */
bool mg_payload_reserve(const struct mg_visit *visit);
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
};
struct mg_walk mg_payload_walk(const struct mg_visit *visit, const struct mg_state *state,
                               int slots);

static inline void mg_walk_on(struct mg_walk *walk, struct mg_state *state)
{
    walk->slot  = walk->slot + 1 == walk->slots ? 0 : walk->slot + 1;
    state->send = walk->send_first + (size_t) walk->slot * walk->send_stride;
    state->recv = walk->recv_first + (size_t) walk->slot * walk->recv_stride;
}

/* One untimed series of a single call, whose content is compared byte by byte.  On a mismatch
 * describes it in `words` (on rank 0 of the group, whoever found it) and returns false there. */
bool mg_payload_verify(const struct mg_visit *visit, struct mg_state *state, char *words,
                       size_t words_bytes);

#endif
