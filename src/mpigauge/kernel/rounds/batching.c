/* batching - how many calls between two clock readings, and how many samples in a visit. */
#include "rounds/batching.h"

#include "clock/clock.h"
#include "rounds/sampling.h"

#include <math.h>

enum {
    STEPS_OF_CLOCK = 10,  /* per sample, at least */
    STEPS_IN_A_ROW = 100, /* in modes for coarse clocks */
    BLOCK_ROUNDS   = 16,  /* even, so that alternating long and short rounds average out */
    BLOCK_MIN      = 2,
    SAMPLES_WANTED = 8, /* per visit: limits the length of batches */
    SAMPLES_MIN    = 2, /* per visit, unless they take MG_OVERDRAFT times its share of time */
};

/* Of ranks that start some 100 ns apart: in a shorter block that is more than 1 % of its time. */
static const double joint_block_ns = 20000;

static int at_least(double value, int least)
{
    return value > least ? (int) fmin(ceil(value), 1e9) : least;
}

static int even(int number)
{
    return number + number % 2;
}

/* Calls between two clock readings: docs/method.md#batching. */
int mg_batch_for(const struct mg_visit *visit, double round_ns, int64_t share_ns)
{
    const struct mg_pattern     *pattern  = visit->pattern;
    const enum mg_batching       batching = mg_sampling_of(visit)->batching;
    const struct mg_clock_facts *clock    = mg_clock_facts();

    const double round  = round_ns > 0 ? round_ns : 1;
    const int    steps  = visit->mode->in_a_row ? STEPS_IN_A_ROW : STEPS_OF_CLOCK;
    const double clocks = fmax((double) clock->cost_ns / 0.01, (double) (steps * clock->step_ns));
    const bool   joint  = batching == MG_BATCH_BLOCKS && pattern->sampling->starts_together;
    const double least  = joint ? joint_block_ns : (double) pattern->least_ns;
    const int    needed = at_least(fmax(clocks, least) / round, 1);

    /* Operations that need preparation cannot follow each other without it. */
    if (visit->mode->alone || (batching == MG_BATCH_ONE && !visit->mode->in_a_row))
        return 1;
    if (batching != MG_BATCH_BLOCKS)
        return needed;
    /* Slow rounds get smaller blocks, still even, so that a visit holds several samples. */
    const double fits  = (double) share_ns / (round * SAMPLES_WANTED);
    const int    block = fits >= BLOCK_ROUNDS ? BLOCK_ROUNDS : (int) fits;

    return even(at_least(needed > block ? needed : block, BLOCK_MIN));
}

/* A disturbed visit may measure a time near 0, and need an endless batch; but its elapsed time is
 * known. */
int mg_batch_within(const struct mg_pattern *pattern, int batch, double cost_ns, int64_t share_ns)
{
    const double fits = (double) share_ns / ((cost_ns > 1 ? cost_ns : 1) * SAMPLES_WANTED);
    const int    most = at_least(fits, BLOCK_MIN);

    if (batch <= most)
        return batch;
    return pattern->sampling->batching == MG_BATCH_BLOCKS ? even(most) : most;
}

static int per_visit(int count, int visits)
{
    return (count + visits - 1) / visits;
}

/* As many as fit the share of time, and at least 2 unless they are very slow: four visits of two
 * samples represent a launch better than one of eight. */
int mg_rounds_for(const struct mg_plan *plan, double cost_ns, int64_t share_ns)
{
    const int    cap    = per_visit(plan->rounds_max, plan->visits_per_cell);
    const int    wanted = per_visit(MG_SAMPLES_CELL, plan->visits_per_cell);
    const double fits   = (double) share_ns / (cost_ns > 0 ? cost_ns : 1);
    const double least  = fmin(fmax(SAMPLES_MIN, wanted), MG_OVERDRAFT * fits);

    return (int) fmin(cap, fmax(1, fmax(fits, least)));
}
