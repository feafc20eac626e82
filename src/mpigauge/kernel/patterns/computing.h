/* computing.h - computation between the start of an operation and its end. */
#ifndef MG_COMPUTING_H
#define MG_COMPUTING_H

#include "machine/compute.h"
#include "patterns/calls.h"

/* Computes for state->work, in equal parts with an MPI_Test between each two. */
static inline void mg_compute(const struct mg_state *state, MPI_Request *request)
{
    const int64_t part = state->work / (state->tests + 1);
    int           done = 0;

    for (int i = 0; i < state->tests; i++) {
        mg_work(part);
        MG_MPI(MPI_Test(request, &done, MPI_STATUS_IGNORE));
    }
    mg_work(state->work - part * state->tests);
}

#endif
