/* shared_memory.h - memory that all ranks of a group share. */
#ifndef MG_SHARED_MEMORY_H
#define MG_SHARED_MEMORY_H

#include "patterns/pattern.h"

#include <stdbool.h>
#include <stddef.h>

/* Why ranks share no memory; the same on all ranks. */
enum mg_unshared {
    MG_SHARED,              /* they do */
    MG_UNSHARED_OTHER_HOST, /* a rank does not find the file: another host or container */
    MG_UNSHARED_NO_ROOM,    /* a rank cannot map it */
    MG_UNSHARED_NO_FILE,    /* rank 0 cannot make it */
};

/* Maps so many bytes that all ranks of comm share, zeroed and, except for the first page, not
 * touched. NULL on all ranks if any cannot map them; *why_p is then the reason, unless why_p is
 * NULL.  Release with munmap.  Collective over comm. */
void *mg_shared_map(MPI_Comm comm, size_t bytes, enum mg_unshared *why_p);

/* Sets state->shared to at least so many bytes, valid until mg_shared_free.  Collective over the
 * group. */
enum mg_unshared mg_shared_reserve(struct mg_state *state, size_t bytes);
void             mg_shared_free(void);

#endif
