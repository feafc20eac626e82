/* crosscopy - rank 1 writes, rank 0 copies: the data are in the cache of the other core, as those
 * of a message through shared memory. */
#include "memory/granularity.h"
#include "memory/plain_copy.h"
#include "patterns/handover.h"
#include "patterns/memory.h"
#include "rounds/sampling.h"

enum { WRITTEN = 1, WANTED = 2 };

static void *(*volatile copy)(void *to, const void *from, size_t bytes) = memcpy;

/* Rank 1 writes with plain stores: memcpy may bypass the caches for large blocks. */
static void prepare(struct mg_state *state)
{
    if (state->rank == 0) {
        mg_hand_over(state, WANTED);
        mg_wait_for(state, WRITTEN);
    } else {
        mg_wait_for(state, WANTED);
        mg_copy_o3(state->shared + MG_PAGE_MAX_BYTES, state->send, state->bytes);
        mg_hand_over(state, WRITTEN);
    }
}

static void call(struct mg_state *state)
{
    if (state->rank == 0)
        (void) copy(state->recv, state->shared + MG_PAGE_MAX_BYTES, state->bytes);
    MG_MEMORY_CHANGED();
}

const struct mg_pattern mg_crosscopy = {
    .name          = "crosscopy",
    .about         = "rank 0 copies what rank 1 has just written into shared memory",
    .time_of       = "the copy alone, two clock readings around it",
    .family        = MG_MEMORY,
    .sampling      = &mg_sampling_prepared,
    .min_ranks     = 2,
    .active_ranks  = 2,
    .trips         = 1,
    .moves_bytes   = true,
    .unit_bytes    = MG_MEMORY_WORD_BYTES,
    .shares_memory = true,
    .prepare       = prepare,
    .modes         = MG_MODES({.name          = "standard",
                               .about         = "memcpy",
                               .call          = call,
                               .source        = mg_one_to_zero,
                               .directions    = 1,
                               .binds_buffers = true,
                               .baseline      = "kappa"}),
};
