/* compare.h - what has arrived against what was sent, byte by byte. */
#ifndef MG_COMPARE_H
#define MG_COMPARE_H

#include "rounds/visits.h"

#include <stddef.h>

/* What any rank of the group finds wrong, in words on rank 0; `words` stay as they are, which is
 * empty, if nothing is.  Collective over the group. */
void mg_payload_compare(const struct mg_visit *visit, const struct mg_state *state, char *words,
                        size_t words_bytes);

#endif
