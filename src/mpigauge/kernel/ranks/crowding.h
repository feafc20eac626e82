/* crowding.h - whether the ranks of a visit have processors of their own. */
#ifndef MG_CROWDING_H
#define MG_CROWDING_H

#include "rounds/visits.h"

#include <stdbool.h>

/* Asks where the ranks may run.  Collective over the world.
 * cores: that a host's ranks may use at once, whatever their affinity says */
void mg_crowding_find(int cores);

/* Whether ranks that wait must give way: not every rank of a visit on this host, or on any host,
 * can have a processor of its own.  Pairs may be measured beside others, so for them all ranks of
 * the host count. */
bool mg_crowded_here(const struct mg_visit *visit);
bool mg_crowded_anywhere(const struct mg_visit *visit);

/* Threads of a rank that keep looking for messages: two with asynchronous progress. */
int mg_polling_threads(void);

#endif
