/* heartbeat.h - signs of life during a visit, and the limit after which it counts as hung. */
#ifndef MG_HEARTBEAT_H
#define MG_HEARTBEAT_H

#include "rounds/visits.h"

#include <stdbool.h>

/* Starts the limit for all that comes before the first visit. */
void mg_heartbeat_warm_up(const struct mg_plan *plan);

/* Starts the limit for a visit, on every rank, whether it takes part or waits for the others. */
void mg_heartbeat_begin(const struct mg_plan *plan, const struct mg_visit *visit, bool takes_part);

/* A sign of life.  Call outside timed code. */
void mg_heartbeat(void);

/* Ends the limit. */
void mg_heartbeat_end(void);

#endif
