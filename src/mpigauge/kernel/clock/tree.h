/* tree.h - which ranks read one clock, and synchronisation of the others along a tree. */
#ifndef MG_TREE_H
#define MG_TREE_H

#include "clock/drift.h"

#include <stddef.h>
#include <stdint.h>

/* The leader of every rank, which reads the same clock, and the leaders in order.  Arrays have one
 * element per rank; the same on all ranks. */
struct mg_world {
    int  rank;
    int  ranks;
    int *leader_of;
    int *leaders;
    int  leaders_count;
};

/* Called between offsets, so that many of them are not taken for a hang. */
typedef void (*mg_heartbeat_fn)(void);

struct mg_world mg_world_by_host(void);
void            mg_world_free(struct mg_world *world);

/* Splits hosts whose ranks cannot be reading one clock: each rank is then a leader. */
void mg_world_split_hosts(struct mg_world *world, mg_heartbeat_fn heartbeat);

/* Measures every rank against its reference, one after the other.  All ranks get all bounds;
 * returns those of this one. */
struct mg_bounds mg_world_bounds(const struct mg_world *world, const int *reference_of,
                                 int64_t *low_ns, int64_t *high_ns, mg_heartbeat_fn heartbeat);

/* Synchronises the leaders with rank 0, level by level; then other ranks copy the model of theirs.
 */
void mg_tree_grow(const struct mg_world *world, mg_heartbeat_fn heartbeat);
void mg_tree_spread(const struct mg_world *world);

/* Zeroed memory, or the job ends. */
void *mg_array_of(int count, size_t bytes);

#endif
