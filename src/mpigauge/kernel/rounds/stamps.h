/* stamps.h - when every rank began and ended its rounds, and samples from that. */
#ifndef MG_STAMPS_H
#define MG_STAMPS_H

#include "rounds/samples.h"
#include "rounds/visits.h"

/* Why a rank did not begin at the start time. */
enum mg_lateness {
    MG_LATE_MESSAGE = 1, /* the start message came too late: a longer lead helps */
    MG_LATE_BEHIND  = 2, /* something else had the core: no lead helps */
};

/* One rank and round, in global time. */
struct mg_stamp {
    int64_t begin_ns;
    int64_t end_ns;
    int64_t lateness; /* of mg_lateness, or 0 */
};

/* The stamps of one rank in a series. */
struct mg_stamps {
    struct mg_stamp *stamps;
    int              batch; /* calls in a round */
    int              count;
    int64_t          rounds; /* including those that are not samples */
    int64_t          cpu_ns; /* over cpu_rounds of them */
    int              cpu_rounds;
};

/* Converts stamps to global time, and makes samples on rank 0 from the stamps of all ranks.
 * first_root: of the first round, where the root moves on */
void mg_stamps_collect(const struct mg_stamps *series, const struct mg_visit *visit,
                       const struct mg_state *state, int first_root, struct mg_rounds *rounds);

#endif
