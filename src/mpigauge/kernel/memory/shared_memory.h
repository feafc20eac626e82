/* shared_memory.h - memory that all ranks of a group see. */
#ifndef MG_SHARED_MEMORY_H
#define MG_SHARED_MEMORY_H

#include "patterns/pattern.h"

#include <stdbool.h>
#include <stddef.h>

/* Why ranks share no memory; the same on all of them. */
enum mg_unshared {
    MG_SHARED,           /* they do */
    MG_UNSHARED_APART,   /* a rank finds another file or none: another host, another container */
    MG_UNSHARED_NO_ROOM, /* a rank finds it and has no place for it */
    MG_UNSHARED_NO_FILE, /* rank 0 cannot make it */
};

/* So many bytes that all ranks of comm see, zeroed and, but for the first page, not yet touched;
 * NULL on all of them if any cannot, and why unless nobody asks.  Collective; for munmap. */
void *mg_shared_map(MPI_Comm comm, size_t bytes, enum mg_unshared *why_p);

/* At state->shared, at least bytes.  Collective over the group; stays until mg_shared_free. */
enum mg_unshared mg_shared_reserve(struct mg_state *state, size_t bytes);
void             mg_shared_free(void);

#endif
