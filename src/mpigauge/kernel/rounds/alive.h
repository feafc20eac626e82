/* alive.h - that a visit comes on: who is told, and after which silence nobody waits any more. */
#ifndef MG_ALIVE_H
#define MG_ALIVE_H

#include "rounds/visits.h"

#include <stdbool.h>

/* Before all that is done before the first visit, up to `mg_alive_end`. */
void mg_alive_warm_up(const struct mg_plan *plan);

/* Before a visit, on every rank, whether it takes part or rests until the others are done. */
void mg_alive_begin(const struct mg_plan *plan, const struct mg_visit *visit, bool takes_part);

/* Outside timed code: the visit comes on. */
void mg_alive(void);

/* After it. */
void mg_alive_end(void);

#endif
