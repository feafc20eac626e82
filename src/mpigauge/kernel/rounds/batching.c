/* batching - how many calls between two clock readings, and how many samples in a visit. */
#include "rounds/batching.h"

#include "rounds/sampling.h"

#include <math.h>

enum {
    STEPS_OF_CLOCK = 10,  /* that a sample takes at least */
    STEPS_IN_A_ROW = 100, /* of a mode that is there for coarse clocks */
    BLOCK_ROUNDS   = 16,  /* even, so that rounds alternating long and short average out */
    BLOCK_LEAST    = 2,
    SAMPLES_WANTED = 8, /* of a visit: batches are no longer than these need */
    SAMPLES_LEAST  = 2, /* of a visit, unless that took MG_OVERDRAFT times its share of time */
};

static int at_least(double value, int least)
{
    return value > least ? (int) fmin(ceil(value), 1e9) : least;
}

static int even(int number)
{
    return number + number % 2;
}

/* Calls between two clock readings: docs/method.md#batching. */
int mg_batch_for(const struct mg_visit *visit, double round_ns, int64_t share_ns,
                 const struct mg_clock_facts *clock)
{
    const struct mg_pattern *pattern  = visit->pattern;
    const enum mg_batching   batching = pattern->sampling->batching;

    const double round  = round_ns > 0 ? round_ns : 1;
    const int    steps  = visit->mode->in_a_row ? STEPS_IN_A_ROW : STEPS_OF_CLOCK;
    const double clocks = fmax((double) clock->cost_ns / 0.01, (double) (steps * clock->step_ns));
    const int    needed = at_least(fmax(clocks, (double) pattern->least_ns) / round, 1);

    /* Of single operations that something must happen before, none can follow another at once. */
    if (batching == MG_BATCH_ONE && !visit->mode->in_a_row)
        return 1;
    if (batching != MG_BATCH_BLOCKS)
        return needed;
    /* Slow rounds get smaller blocks, still even, so that a visit holds several samples. */
    const double fits  = (double) share_ns / (round * SAMPLES_WANTED);
    const int    block = fits >= BLOCK_ROUNDS ? BLOCK_ROUNDS : (int) fits;

    return even(at_least(needed > block ? needed : block, BLOCK_LEAST));
}

/* A disturbed visit may say that a round takes nothing, and no batch would be enough: but what its
 * rounds have cost is known. */
int mg_batch_within(const struct mg_pattern *pattern, int batch, double cost_ns, int64_t share_ns)
{
    const double fits = (double) share_ns / ((cost_ns > 1 ? cost_ns : 1) * SAMPLES_WANTED);
    const int    most = at_least(fits, BLOCK_LEAST);

    if (batch <= most)
        return batch;
    return pattern->sampling->batching == MG_BATCH_BLOCKS ? even(most) : most;
}

static int part_of(int count, int visits)
{
    return (count + visits - 1) / visits;
}

/* Samples of one visit: what fits its share of time, at least 2 unless they are very slow; four
 * visits of two samples tell more of a launch than one of eight. */
int mg_rounds_for(const struct mg_plan *plan, double cost_ns, int64_t share_ns)
{
    const int    cap    = part_of(plan->rounds_max, plan->visits_per_cell);
    const int    wanted = part_of(MG_SAMPLES_CELL, plan->visits_per_cell);
    const double fits   = (double) share_ns / (cost_ns > 0 ? cost_ns : 1);
    const double least  = fmin(fmax(SAMPLES_LEAST, wanted), MG_OVERDRAFT * fits);

    return (int) fmin(cap, fmax(1, fmax(fits, least)));
}
