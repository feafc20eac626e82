/* stamps.h - when every rank began and ended its rounds. */
#ifndef MG_STAMPS_H
#define MG_STAMPS_H

#include "rounds/samples.h"
#include "rounds/visits.h"

/* Of one rank and round, in global time. */
struct mg_stamp {
    int64_t begin_ns;
    int64_t end_ns;
    int64_t late;
};

/* What one rank has of a series. */
struct mg_stamps {
    struct mg_stamp *stamps;
    int              count;
    int64_t          cpu_ns; /* over cpu_rounds of them */
    int              cpu_rounds;
};

/* Local times become global ones, and the stamps of all ranks samples on rank 0.  first_root is the
 * root of the first round, where it moves on. */
void mg_stamps_collect(const struct mg_stamps *series, const struct mg_visit *visit,
                       const struct mg_state *state, int first_root, struct mg_rounds *rounds);

#endif
