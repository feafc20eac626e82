/* compare.h - compares received payload with what was sent, byte by byte. */
#ifndef MG_COMPARE_H
#define MG_COMPARE_H

#include "rounds/visits.h"

#include <stddef.h>

/* On rank 0, sets `error` to a sentence about the first rank that received something wrong; `error`
 * must be empty before, and stays so if nothing is wrong.  Collective over the group. */
void mg_payload_compare(const struct mg_visit *visit, const struct mg_state *state, char *error,
                        size_t error_bytes);

#endif
