/* cell.h - what is known of a cell in this launch: batch and rounds of its visits, and whether it
 * needs more of them. */
#ifndef MG_CELL_H
#define MG_CELL_H

#include "rounds/samples.h"
#include "rounds/sampling.h"
#include "rounds/series.h"
#include "rounds/visits.h"

enum {
    MG_TRIALS  = 9, /* single rounds that estimate how long a round takes */
    MG_WARMUPS = 2, /* at least, since the last cell left its data in caches; so many are kept */
    MG_WARMUPS_MAX = 128,
};

/* Used on rank 0 of the group only. */
struct mg_cell {
    struct mg_series series;
    int              batch; /* 0: not tried yet */
    int              rounds;
    double           round_ns; /* of one call */
    double           cost_ns;  /* of one sample, including time between samples */
    int64_t          spent_ns; /* in samples and the warm-up before them */
    bool             closed;   /* corrupt or refused: no further visits */
};

/* What rank 0 decides for all ranks of the group before a visit. */
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
    int64_t               visits_ns;        /* when the first visit could begin */
    int64_t               stops_counted_ns; /* when stops were last counted */
    int64_t               stopped_ns;       /* duration of visits in which this rank was stopped */
    int                   stops;
    struct mg_rounds      rounds;     /* of one series, reused */
    struct mg_rounds      pure;       /* of modes that compute, without their computation, reused */
    int64_t               checked_ns; /* when the global clock was checked */
    int64_t               block_ns;   /* until it is checked again */
    int64_t               fastest_ns; /* median of the fastest cell that needs the global clock */
    int                   rank;
};

static inline bool mg_is_global(const struct mg_visit *visit)
{
    return visit->pattern->sampling->starts_together;
}

/* The time that each visit of a cell should take. */
int64_t mg_visit_share_ns(const struct mg_run *run);

/* Fits batch and rounds to the time of a round; anew after every visit, since a trial in a slow
 * moment leads to batches that are too small for the clock. */
void mg_cell_fit(const struct mg_run *run, const struct mg_visit *visit, struct mg_cell *cell,
                 double round_ns, double cost_of_call_ns);

/* Warm-up samples before those that count: MG_WARMUPS, or as many as an idle core needs; one for a
 * slow cell, which would otherwise have fewer samples. */
int mg_warmups_for(const struct mg_run *run, const struct mg_cell *cell);

/* Why the next visit is skipped; NULL if it is not. */
const char *mg_skip_reason(const struct mg_run *run, const struct mg_cell *cell);

/* Whether it will be the reason for all later visits of the cell, too, whatever others do. */
bool mg_skip_is_final(const char *reason);

/* What the rounds of a visit should take; 0 if not known yet. */
int64_t mg_expected_ns(const struct mg_cell *cell, bool computes);

#endif
