/* visit.h - a visit's life, as those see it who decide on its turn. */
#ifndef MG_VISIT_H
#define MG_VISIT_H

#include "clock/clock.h"
#include "rounds/samples.h"
#include "rounds/sampling.h"
#include "rounds/stop_rule.h"
#include "rounds/visits.h"

enum { MG_TRIALS = 9 /* single rounds that tell how long a round takes */ };

/* What is known of a cell in this launch; only rank 0 of its group uses it. */
struct mg_cell {
    struct mg_series series;
    int              batch; /* 0: not tried yet */
    int              rounds;
    double           round_ns; /* of one call */
    double           cost_ns;  /* of one sample, with what lies between two of them */
    int64_t          spent_ns;
    bool             closed; /* corrupt or refused: not visited again */
};

/* What all ranks of the group must agree on before a visit. */
struct mg_decision {
    int go;
    int batch;
    int rounds;
};

struct mg_run {
    const struct mg_plan *plan;
    struct mg_cell       *cells;
    int64_t               start_ns;
    int64_t               visits_ns;  /* when the clocks agreed, and visits could begin */
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

/* NULL, or why the visit is left out.  Asked between visits only, so it costs no sample. */
const char *mg_reason_to_skip(const struct mg_run *run, const struct mg_cell *cell);

/* What its rounds should take; 0 if that is not known yet. */
int64_t mg_expect_ns(const struct mg_cell *cell, bool overlaps);

/* On all ranks of the group, which agree on the decision. */
void mg_perform(struct mg_run *run, const struct mg_visit *visit, struct mg_state *state,
                struct mg_cell *cell, struct mg_decision *decision);

#endif
