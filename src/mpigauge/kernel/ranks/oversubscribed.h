/* oversubscribed.h - whether the ranks of a visit have a processor each. */
#ifndef MG_OVERSUBSCRIBED_H
#define MG_OVERSUBSCRIBED_H

#include "rounds/visits.h"

#include <stdbool.h>

/* Gathers the affinity of all ranks.  Collective over the world.
 * cores: how many the ranks of a machine may use at once, whatever their affinity */
void mg_oversubscribed_find(int cores);

/* Whether waiting ranks must yield: not every rank of a visit on this machine, or on any, can
 * have a processor of its own.  Visits of pairs may run at the same time, so for them all ranks of
 * the machine count. */
bool mg_oversubscribed_here(const struct mg_visit *visit);
bool mg_oversubscribed_anywhere(const struct mg_visit *visit);

/* Threads of a rank that poll for messages: two with asynchronous progress. */
int mg_polling_threads(void);

#endif
