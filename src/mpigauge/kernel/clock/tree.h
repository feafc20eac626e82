/* tree.h - who reads one clock, and a tree over those who do not. */
#ifndef MG_TREE_H
#define MG_TREE_H

#include "clock/drift.h"

#include <stddef.h>
#include <stdint.h>

/* The world as clocks see it: the leader of every rank, and the leaders in order.  All arrays have
 * one place for every rank; the same on all ranks. */
struct mg_world {
    int  rank;
    int  ranks;
    int *leader_of;
    int *leaders;
    int  leaders_count;
};

/* Called between measurements of offsets: many of them are not to be taken for a hang. */
typedef void (*mg_alive_fn)(void);

struct mg_world mg_world_by_host(void);
void            mg_world_free(struct mg_world *world);

/* Takes hosts apart whose ranks cannot be reading one clock: each is a host of its own. */
void mg_world_check(struct mg_world *world, mg_alive_fn alive);

/* Every rank against its reference, one after the other; the bounds of all on all ranks, and those
 * of this one. */
struct mg_bounds mg_world_bounds(const struct mg_world *world, const int *reference_of,
                                 int64_t *low_ns, int64_t *high_ns, mg_alive_fn alive);

/* Leaders learn the clock of rank 0, level by level: each answers with a clock that is corrected
 * already.  Then their hosts take the model over. */
void mg_tree_grow(const struct mg_world *world, mg_alive_fn alive);
void mg_tree_spread(const struct mg_world *world);

/* Zeroed memory, or the job ends. */
void *mg_array_of(int count, size_t bytes);

#endif
