/* offset.h - how far the clocks of two ranks are apart. */
#ifndef MG_OFFSET_H
#define MG_OFFSET_H

#include "clock/drift.h"

/* The client's side and the reference's, which are world ranks, of one offset. */
struct mg_bounds mg_offset_of(int reference);
void             mg_offset_answer(int client);

/* The same again and again, over a second that begins when both are there.  The teacher calls
 * `alive` after every point: over a slow network they take longer. */
enum { MG_FIT_POINTS = 50 };
void mg_clock_learn(int reference, struct mg_bounds *points);
void mg_clock_teach(int client, void (*alive)(void));

#endif
