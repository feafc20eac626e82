/* sync.h - what sync.c, tree.c, offset.c and drift.c share. */
#ifndef MG_SYNC_H
#define MG_SYNC_H

#include "clock.h"

#include <stddef.h>

/* Bounds of (reference - client) by N stamped exchanges, on the client
 * (docs/method.md#one-clock-for-all-ranks). */
struct mg_bounds {
    int64_t low_ns;
    int64_t high_ns;
    int64_t at_ns; /* client time between the two exchanges that set them */
};

/* The client's side and the reference's, which are world ranks, of one offset. */
struct mg_bounds mg_offset_of(int reference);
void             mg_offset_answer(int client);

/* The same of a level of the tree: the client's model, valid from now on. */
struct mg_clock_model mg_clock_learn(int reference);
void                  mg_clock_teach(int client);

/* The model of a client's clock at the last of some bounds. */
struct mg_clock_model mg_clock_fit(const struct mg_bounds *bounds, int count);

/* The world as clocks see it: the leader of every rank, and the leaders in order.  All arrays have
 * one place for every rank; the same on all ranks. */
struct mg_world {
    int  rank;
    int  ranks;
    int *leader_of;
    int *leaders;
    int  leaders_count;
};

struct mg_world mg_world_by_host(void);
void            mg_world_free(struct mg_world *world);

/* Takes hosts apart whose ranks cannot be reading one clock: each is a host of its own. */
void mg_world_check(struct mg_world *world);

/* Every rank against its reference, one after the other; the bounds of all on all ranks. */
void mg_world_bounds(const struct mg_world *world, const int *reference_of, int64_t *low_ns,
                     int64_t *high_ns);

/* Leaders learn the clock of rank 0 into `model`; then their hosts take it over. */
void mg_tree_grow(const struct mg_world *world, struct mg_clock_model *model);
void mg_tree_spread(const struct mg_world *world, struct mg_clock_model *model);

/* Zeroed memory, or the job ends. */
void *mg_array_of(int count, size_t bytes);

#endif
