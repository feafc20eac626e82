/* plan.h - what is to be measured: the visits, in their order. */
#ifndef MG_PLAN_H
#define MG_PLAN_H

#include "pattern.h"

enum {
    MG_PLAN_VERSION = 2 /* of the plan and journal texts; mpigauge refuses a kernel of another */
};

/* How the ranks of a MG_COMMON round start together. */
enum mg_start {
    MG_START_COMMON,      /* at a moment of the global clock */
    MG_START_BARRIER,     /* as they leave our dissemination barrier */
    MG_START_MPI_BARRIER, /* as they leave MPI_Barrier */
};

/* One visit: a short uninterrupted run of rounds of one cell. */
struct mg_visit {
    int64_t                    id;
    int                        cell; /* visits of one cell share it */
    const struct mg_pattern   *pattern;
    const struct mg_mode      *mode;
    int                        ranks; /* that take part */
    size_t                     bytes;
    int                        window;
    size_t                     pool_bytes; /* cold: what each side walks through; 0 = warm */
    enum mg_start              start;
    const struct mg_datatype  *datatype; /* NULL unless the pattern reduces */
    const struct mg_operation *operation;
    int                        root; /* -1 = another one each round */
    bool                       in_place;
    int                        pair[2]; /* world ranks; those of other visits are the first ones */
    int64_t                    step;    /* pairs of one step are measured at once; -1 = no pair */
};

struct mg_plan {
    int              ranks;
    int              cores; /* that they share */
    int              visits_per_cell;
    int              rounds_min; /* of a cell in this launch, before the stop rule may end it */
    int              rounds_max;
    int              precision_ppm; /* half-width of the within-launch interval to stop at */
    int64_t          cell_ns;       /* time a cell should take in this launch */
    int64_t          deadline_ns;   /* no visit begins later than this after clocks agree */
    int64_t          warmup_ns;     /* per group of ranks, before the first visit */
    int              visits_count;
    int              cells_count;
    struct mg_visit *visits;
};

/* Read on rank 0 from the file (- = standard input), known to all ranks afterwards.  A plan that
 * cannot be followed ends the job with one sentence naming the line. */
struct mg_plan mg_plan_read(const char *path);
void           mg_plan_free(struct mg_plan *plan);

#endif
