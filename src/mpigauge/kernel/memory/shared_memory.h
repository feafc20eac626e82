/* shared_memory.h - memory that all ranks of a group see. */
#ifndef MG_SHARED_MEMORY_H
#define MG_SHARED_MEMORY_H

#include "patterns/pattern.h"

#include <stdbool.h>
#include <stddef.h>

/* At state->shared, at least bytes; false if the ranks are not on one host.  Collective over the
 * group; stays until mg_shared_free. */
bool mg_shared_reserve(struct mg_state *state, size_t bytes);
void mg_shared_free(void);

#endif
