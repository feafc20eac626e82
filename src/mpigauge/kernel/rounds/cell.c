/* cell - what is known of a cell in this launch: batch and rounds of its visits, and whether it
 * needs more of them. */
#include "rounds/cell.h"

#include "rounds/batching.h"

#include <string.h>

static const int64_t warmup_min_ns = 200000; /* an idle core is slow at first */

int64_t mg_visit_share_ns(const struct mg_run *run)
{
    return run->plan->cell_ns / run->plan->visits_per_cell;
}

void mg_cell_fit(const struct mg_run *run, const struct mg_visit *visit, struct mg_cell *cell,
                 double round_ns, double cost_of_call_ns)
{
    const int64_t share   = mg_visit_share_ns(run) / (mg_computes_as_long(visit->mode) ? 2 : 1);
    const double  cost_ns = cost_of_call_ns > round_ns ? cost_of_call_ns : round_ns;
    const int     needed  = mg_batch_for(visit, round_ns, share);

    cell->round_ns = round_ns;
    cell->batch    = mg_batch_within(visit->pattern, needed, cost_ns, share);
    cell->cost_ns  = cell->batch * cost_ns;
    cell->rounds   = mg_rounds_for(run->plan, cell->cost_ns, share);
}

int mg_warmups_for(const struct mg_run *run, const struct mg_cell *cell)
{
    const double needed = (double) warmup_min_ns / (cell->cost_ns > 0 ? cell->cost_ns : 1);
    const double share  = (double) mg_visit_share_ns(run);

    if (needed < 1 && cell->cost_ns > share / 4)
        return 1;
    if (needed <= MG_WARMUPS)
        return MG_WARMUPS;
    return needed < MG_WARMUPS_MAX ? (int) needed : MG_WARMUPS_MAX;
}

/* Moments of a launch differ more than the samples of one: little time makes few samples, not few
 * visits.  But no cell may take the time of all others. */
static bool takes_too_long(const struct mg_plan *plan, const struct mg_cell *cell)
{
    return cell->series.count > 0 && cell->spent_ns >= MG_OVERTIME * plan->cell_ns;
}

/* ---- Stop rule ------------------------------------------------------------------------------- */

/* The rounds of one visit show one moment of the machine, however precise they are: a cell needs
 * half of its visits. */
static bool precise_enough(const struct mg_plan *plan, const struct mg_series *series)
{
    const struct mg_precision precision = mg_series_precision(series);

    return 2 * series->visits >= plan->visits_per_cell && series->count >= plan->rounds_min &&
           precision.effective >= 20 && precision.half_width <= plan->precision_ppm * 1e-6;
}

const char *mg_skip_reason(const struct mg_run *run, const struct mg_cell *cell)
{
    const struct mg_plan *plan = run->plan;

    if (cell->closed)
        return "closed";
    if (mg_now_ns() - run->visits_ns - run->stopped_ns >= plan->deadline_ns)
        return "time";
    if (cell->series.count >= plan->rounds_max || precise_enough(plan, &cell->series))
        return "precise";
    if (takes_too_long(plan, cell))
        return "share";
    return NULL;
}

bool mg_skip_is_final(const char *reason)
{
    return strcmp(reason, "closed") == 0 || strcmp(reason, "time") == 0;
}

int64_t mg_expected_ns(const struct mg_cell *cell, bool computes)
{
    const int series =
        computes ? 3 : 1; /* without computation, and with, which takes twice as long */

    return (int64_t) (series * cell->cost_ns * (cell->rounds + MG_WARMUPS));
}
