/* shared_memory.h - memory that all ranks of a group see. */
#ifndef MG_SHARED_MEMORY_H
#define MG_SHARED_MEMORY_H

#include "patterns/pattern.h"

#include <stdbool.h>
#include <stddef.h>

/* So many bytes that all ranks of comm see, zeroed and, but for the first page, not yet touched;
 * NULL on all of them if any cannot.  Collective; for munmap. */
void *mg_shared_map(MPI_Comm comm, size_t bytes);

/* At state->shared, at least bytes; false if the ranks are not on one host.  Collective over the
 * group; stays until mg_shared_free. */
bool mg_shared_reserve(struct mg_state *state, size_t bytes);
void mg_shared_free(void);

#endif
