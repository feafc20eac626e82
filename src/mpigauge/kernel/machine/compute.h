/* compute.h - computation to overlap with communication. */
#ifndef MG_COMPUTE_H
#define MG_COMPUTE_H

#include <stdint.h>

/* Computes for so many steps, without MPI and memory.  Steps of mg_work depend on each other, so
 * that their time depends on the frequency alone.  Those of mg_work_wide need more execution units
 * than a core has, so that another thread on the same core slows them down. */
void mg_work(int64_t steps);
void mg_work_wide(int64_t steps);

/* How many steps of mg_work take so long on this rank, given the step of its clock. */
int64_t mg_work_for(int64_t ns, int64_t step_ns);

#endif
