/* pools.h - memory pools of cold visits. */
#ifndef MG_POOLS_H
#define MG_POOLS_H

#include "rounds/visits.h"

/* Enlarges pools that are too small for the largest cache of any host.  Collective over the world.
 */
void mg_pools_fit(struct mg_plan *plan);

#endif
