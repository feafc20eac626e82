/* visit_traffic.h - traffic of the network cards of all hosts during a visit. */
#ifndef MG_VISIT_TRAFFIC_H
#define MG_VISIT_TRAFFIC_H

#include "rounds/visits.h"
#include "text/visit_line.h"
#include "traffic/cards.h"

/* Reads the counters of this host before, on its first rank; the reading of other ranks is empty.
 * waits: for counters that the kernel caches */
void mg_visit_traffic_begin(const struct mg_visit *visit, const struct mg_state *state, bool waits,
                            struct mg_card_reading *reading);

/* Sets the traffic of the outcome to that of this host since an earlier reading. */
void mg_visit_traffic_end(const struct mg_visit *visit, const struct mg_state *state, bool waits,
                          const struct mg_card_reading *earlier, struct mg_outcome *outcome);

/* Collective over the group: on rank 0 the outcome gets the traffic of all hosts, with net_calls =
 * 0 if the counters of one are stale.  Its list of cards is valid until the next visit. */
void mg_visit_traffic_gather(const struct mg_visit *visit, const struct mg_state *state,
                             struct mg_outcome *outcome);

#endif
