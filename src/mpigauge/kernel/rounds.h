/* rounds.h - rounds of a visit: how many, the timed code, and when there are enough. */
#ifndef MG_ROUNDS_H
#define MG_ROUNDS_H

#include "clock.h"
#include "payload.h"

/* ---- Rounds ---------------------------------------------------------------------------------- */

/* What a series of rounds gave, on rank 0 of the group; all arrays have room for `room`. */
struct mg_rounds {
    int      room;
    int      count;
    int64_t *samples_ns;
    int64_t  elapsed_ns; /* of the whole series, with what lies between the samples */
    int64_t  cpu_ns;     /* all ranks of the group, over the samples; -1 = not known */
    /* of MG_COMMON: */
    int64_t *skew_ns;  /* last start - first start */
    int64_t *root_ns;  /* end - start at the root */
    int64_t *local_ns; /* median over ranks of end - start */
    bool    *late;     /* a rank came after the start: the round says little */
    int      late_count;
    int      left_early; /* rounds in which a rank left before another came */
    int64_t  lead_ns;
};

void mg_rounds_make(struct mg_rounds *rounds, int room);
void mg_rounds_free(struct mg_rounds *rounds);

/* Runs up to `count` rounds of `batch` calls; MG_COMMON ones end after limit_ns. */
void mg_rounds_run(const struct mg_visit *visit, struct mg_state *state, struct mg_walk *walk,
                   int batch, int count, int64_t limit_ns, struct mg_rounds *rounds);

/* The same for rounds that all ranks start together. */
void mg_together_run(const struct mg_visit *visit, struct mg_state *state, struct mg_walk *walk,
                     int count, int64_t limit_ns, struct mg_rounds *rounds);
void mg_together_free(void);

int64_t mg_median_of(const int64_t *values, int count);

/* ---- Stop rule ------------------------------------------------------------------------------- */

/* Times of one call, of all samples of a cell in this launch in time order, with the ends of its
 * visits: visits may differ in how many calls their samples hold. */
struct mg_series {
    double *calls_ns;
    int     count;
    int    *visit_ends;
    int     visits;
};

/* Where a cell stands by docs/method.md#enough-within-a-launch: effective number of samples and
 * relative half-width of the within-launch interval of the median (infinite while there are too
 * few). */
struct mg_standing {
    double correlation_time;
    double effective;
    double half_width;
};

void mg_series_append(struct mg_series *series, const int64_t *samples_ns, int count, int batch);
void mg_series_free(struct mg_series *series);
struct mg_standing mg_series_standing(const struct mg_series *series);

/* ---- Sizing and warm-up ---------------------------------------------------------------------- */

enum { MG_OVERDRAFT = 8 /* how often its share of time a slow cell may take */ };

/* Calls between two clock readings, given the time of one and the time that a visit has. */
int mg_batch_for(const struct mg_pattern *pattern, double round_ns, int64_t share_ns,
                 const struct mg_clock_facts *clock);

/* Samples of one visit, given what one costs and the time that the visit has. */
int mg_rounds_for(const struct mg_plan *plan, double cost_ns, int64_t share_ns);

/* Once per group of ranks that the plan uses, at one byte and at its largest message. */
void mg_warm_up(const struct mg_plan *plan);

#endif
