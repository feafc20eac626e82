/* compute.h - computation to hide communication behind. */
#ifndef MG_COMPUTE_H
#define MG_COMPUTE_H

#include <stdint.h>

/* Computes, without MPI and without memory, for so many steps; mg_work_for says how many of them
 * take a time on this rank.  Steps of mg_work wait for each other, so that frequency alone decides
 * what they take; those of mg_work_wide need more units than a core has, so that a thread which
 * shares it is felt.
 *
 * step_ns: of the clock. */
void    mg_work(int64_t steps);
void    mg_work_wide(int64_t steps);
int64_t mg_work_for(int64_t ns, int64_t step_ns);

#endif
