/* stamps.h - when every rank began and ended its rounds. */
#ifndef MG_STAMPS_H
#define MG_STAMPS_H

#include "rounds/samples.h"
#include "rounds/visits.h"

/* Why a rank did not begin at the moment named. */
enum mg_lateness {
    MG_LATE_TOLD   = 1, /* the word came after it: a longer lead cures that */
    MG_LATE_BEHIND = 2, /* something else had the core: no lead does */
};

/* Of one rank and round, in global time. */
struct mg_stamp {
    int64_t begin_ns;
    int64_t end_ns;
    int64_t lateness; /* of mg_lateness, or 0 */
};

/* What one rank has of a series. */
struct mg_stamps {
    struct mg_stamp *stamps;
    int              batch; /* calls in a round */
    int              count;
    int64_t          rounds; /* with those that are no samples */
    int64_t          cpu_ns; /* over cpu_rounds of them */
    int              cpu_rounds;
};

/* Local times become global ones, and the stamps of all ranks samples on rank 0.  first_root is the
 * root of the first round, where it moves on. */
void mg_stamps_collect(const struct mg_stamps *series, const struct mg_visit *visit,
                       const struct mg_state *state, int first_root, struct mg_rounds *rounds);

#endif
