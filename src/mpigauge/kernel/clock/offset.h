/* offset.h - bounds of the offset between the clocks of two ranks. */
#ifndef MG_OFFSET_H
#define MG_OFFSET_H

#include "clock/drift.h"

/* One offset: called on the client and on the reference with the other's world rank. */
struct mg_bounds mg_offset_of(int reference);
void             mg_offset_answer(int client);

/* A series of offsets over a tenth of a second, likewise.  The reference calls `heartbeat` after
 * every point: over a slow network they take longer. */
enum { MG_FIT_POINTS = 50 };
void mg_clock_learn(int reference, struct mg_bounds *points);
void mg_clock_serve(int client, void (*heartbeat)(void));

#endif
