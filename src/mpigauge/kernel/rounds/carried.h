/* carried - what the cards of all hosts of a visit have carried while its operation was repeated.
 */
#ifndef MG_CARRIED_H
#define MG_CARRIED_H

#include "rounds/cards.h"
#include "rounds/visits.h"
#include "text/visit_line.h"

/* One rank of each host reads for it, and waits or does not for counters that are held back; all
 * others have nothing. */
void mg_carried_until_now(const struct mg_visit *visit, const struct mg_state *state, bool waits,
                          struct mg_carried *carried);

/* What this rank's host has carried since then, in the outcome in place of what was there. */
void mg_carried_since(const struct mg_visit *visit, const struct mg_state *state, bool waits,
                      const struct mg_carried *earlier, struct mg_outcome *outcome);

/* On all ranks of the group: on rank 0 the outcome becomes that of all hosts; without any calls if
 * a host did not wait for its cards.  What it has of cards one by one is there until the next
 * visit. */
void mg_carried_tell(const struct mg_visit *visit, const struct mg_state *state,
                     struct mg_outcome *outcome);

#endif
