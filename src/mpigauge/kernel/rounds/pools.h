/* pools.h - pools of cold visits. */
#ifndef MG_POOLS_H
#define MG_POOLS_H

#include "rounds/visits.h"

/* Makes pools larger where a host of the ranks has a larger cache than the plan has thought of.
 * All ranks call it. */
void mg_pools_fit(struct mg_plan *plan);

#endif
