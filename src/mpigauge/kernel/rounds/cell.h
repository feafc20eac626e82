/* cell.h - what is known of a cell in this launch: what its visits should take, and whether it
 * needs them. */
#ifndef MG_CELL_H
#define MG_CELL_H

#include "clock/clock.h"
#include "rounds/samples.h"
#include "rounds/sampling.h"
#include "rounds/stop_rule.h"
#include "rounds/visits.h"

enum {
    MG_TRIALS       = 9, /* single rounds that tell how long a round takes */
    MG_WARMUPS      = 2, /* and at most so many are kept: the last cell left its data in caches */
    MG_WARMUPS_MOST = 128,
};

/* What is known of a cell in this launch; only rank 0 of its group uses it. */
struct mg_cell {
    struct mg_series series;
    int              batch; /* 0: not tried yet */
    int              rounds;
    double           round_ns; /* of one call */
    double           cost_ns;  /* of one sample, with what lies between two of them */
    int64_t          spent_ns; /* in samples and the warm-up before them, nothing else */
    bool             closed;   /* corrupt or refused: not visited again */
};

/* What all ranks of the group must agree on before a visit. */
struct mg_decision {
    int go;
    int batch;
    int rounds;
    int warmups;
};

struct mg_run {
    const struct mg_plan *plan;
    struct mg_cell       *cells;
    int64_t               start_ns;
    int64_t               visits_ns;  /* when the clocks agreed, and visits could begin */
    int64_t               heeded_ns;  /* when it was last asked whether this rank was stopped */
    int64_t               stopped_ns; /* since then: what visits took in which it was */
    int                   stops;
    struct mg_rounds      rounds;     /* of one series, again and again */
    struct mg_rounds      pure;       /* the same of `overlap`, without its computation */
    int64_t               checked_ns; /* when the global clock was */
    int64_t               fastest_ns; /* of the cells that need it */
    struct mg_clock_facts clock;
    int                   rank;
    bool                  skips; /* the visit of its pair that it has just made an offer for */
};

static inline bool mg_is_global(const struct mg_visit *visit)
{
    return visit->pattern->sampling->starts_together;
}

/* The time that a visit should take. */
int64_t mg_share_ns(const struct mg_run *run);

/* Fits batch and rounds to what a round takes; after every visit anew, since the trial may have met
 * a slow moment, and too small a batch would give the clock too large a share. */
void mg_size_up(const struct mg_run *run, const struct mg_visit *visit, struct mg_cell *cell,
                double round_ns, double cost_of_call_ns);

/* Samples before those that count: MG_WARMUPS, or as many as a core needs that has rested; one of a
 * slow cell, whose visits would be fewer, and which has gone through all its memory then. */
int mg_warmups_for(const struct mg_run *run, const struct mg_cell *cell);

/* NULL, or why the visit is left out.  Asked between visits only, so it costs no sample. */
const char *mg_reason_to_skip(const struct mg_run *run, const struct mg_cell *cell);

/* What its rounds should take; 0 if that is not known yet. */
int64_t mg_expect_ns(const struct mg_cell *cell, bool overlaps);

#endif
