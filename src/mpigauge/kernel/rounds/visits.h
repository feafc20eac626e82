/* visits.h - what is to be measured: the visits of a plan, in their order. */
#ifndef MG_VISITS_H
#define MG_VISITS_H

#include "memory/reduction.h"
#include "patterns/pattern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the ranks of a round start together. */
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

static inline bool mg_is_pair(const struct mg_visit *visit)
{
    return visit->step >= 0;
}

static inline bool mg_takes_part(const struct mg_visit *visit, int world_rank)
{
    if (mg_is_pair(visit))
        return world_rank == visit->pair[0] || world_rank == visit->pair[1];
    return world_rank < visit->ranks;
}

#endif
