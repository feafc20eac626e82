/* condition - the state of the machine right before the samples of a visit and right after
 * (docs/method.md#the-condition-of-a-visit).
 *
 * None of it comes from the samples, so choosing visits by it does not select outcomes. */
#include "machine/condition.h"

#include "clock/clock.h"
#include "machine/compute.h"
#include "machine/neighbours.h"
#include "ranks/abort.h"

#include <math.h>
#include <stdlib.h>

enum {
    CHAIN_STEPS = 1000, /* dependent: about 2 us */
    WIDE_STEPS  = 1000, /* independent: about 1 us */
    TRIALS      = 3,
};

/* What a rank sends to rank 0. */
struct report {
    double  line_ns[MG_MOMENTS];
    double  alu_ns[MG_MOMENTS];
    double  issue_ns[MG_MOMENTS];
    int64_t switches;
    int64_t wait_ns;
    int64_t retransmits;
    int64_t moved;
};

/* ---- On every rank --------------------------------------------------------------------------- */

/* The least of some trials; a time below 0, of a clock that ran backwards, does not count. */
static double time_work(void (*work)(int64_t steps), int64_t steps)
{
    int64_t least_ns = INT64_MAX;

    for (int i = 0; i < TRIALS; i++) {
        const int64_t begin_ns = mg_now_ns();
        work(steps);
        const int64_t time_ns = mg_now_ns() - begin_ns;

        if (time_ns >= 0 && time_ns < least_ns)
            least_ns = time_ns;
    }
    return least_ns < INT64_MAX ? (double) least_ns : 0;
}

static void time_arithmetic(struct mg_condition *condition, enum mg_moment moment)
{
    condition->alu_ns[moment]   = time_work(mg_work, CHAIN_STEPS);
    condition->issue_ns[moment] = time_work(mg_work_wide, WIDE_STEPS);
}

static void count(const struct mg_visit *visit, const struct mg_state *state,
                  struct mg_condition *condition, enum mg_moment moment)
{
    const bool far = mg_far_rank(visit, state) > 0;

    condition->counters[moment] =
        mg_counters_read(state->rank == 0, far && mg_speaks_for_host(visit, state));
}

#ifdef MG_WITHOUT_CONDITION
/* A build for benchmarks/condition.py, which measures what the usual build costs. */
void mg_condition_read_path(const struct mg_visit *visit, const struct mg_state *state,
                            struct mg_condition *condition, enum mg_moment moment)
{
    (void) visit;
    (void) state;
    condition->path_ns[moment] = NAN;
}

void mg_condition_read(const struct mg_visit *visit, const struct mg_state *state,
                       struct mg_condition *condition, enum mg_moment moment)
{
    (void) visit;
    (void) state;
    (void) count;
    (void) time_arithmetic;
    condition->line_ns[moment]  = NAN;
    condition->alu_ns[moment]   = NAN;
    condition->issue_ns[moment] = NAN;
    condition->counters[moment] = (struct mg_counters){-1, -1, -1, -1, -1};
}
#else
void mg_condition_read_path(const struct mg_visit *visit, const struct mg_state *state,
                            struct mg_condition *condition, enum mg_moment moment)
{
    condition->path_ns[moment] = mg_path_ns(visit, state);
}

/* Counters are read next to the samples; arithmetic is timed when the core has been busy. */
void mg_condition_read(const struct mg_visit *visit, const struct mg_state *state,
                       struct mg_condition *condition, enum mg_moment moment)
{
    if (moment == MG_AFTER) {
        count(visit, state, condition, moment);
        time_arithmetic(condition, moment);
    }
    condition->line_ns[moment] = mg_line_ns(visit, state);
    if (moment == MG_BEFORE) {
        time_arithmetic(condition, moment);
        count(visit, state, condition, moment);
    }
}
#endif

static struct report report_of(const struct mg_condition *condition)
{
    const struct mg_counters *earlier = &condition->counters[MG_BEFORE];
    const struct mg_counters *later   = &condition->counters[MG_AFTER];
    struct report             report  = {
        .switches    = mg_counter_difference(earlier->switches, later->switches),
        .wait_ns     = mg_counter_difference(earlier->wait_ns, later->wait_ns),
        .retransmits = mg_counter_difference(earlier->retransmits, later->retransmits),
        .moved       = earlier->cpu >= 0 && later->cpu >= 0 ? earlier->cpu != later->cpu : -1};

    for (int moment = 0; moment < MG_MOMENTS; moment++) {
        report.line_ns[moment]  = condition->line_ns[moment];
        report.alu_ns[moment]   = condition->alu_ns[moment];
        report.issue_ns[moment] = condition->issue_ns[moment];
    }
    return report;
}

/* ---- On rank 0 ------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *) a;
    const double y = *(const double *) b;

    return (x > y) - (x < y);
}

/* The median and the largest over ranks where it is known; NaN if there are none. */
static void sum_up_lines(const struct report *reports, int ranks, int moment, double *scratch_ns,
                         struct mg_condition *condition)
{
    int known = 0;

    for (int rank = 0; rank < ranks; rank++)
        if (!isnan(reports[rank].line_ns[moment]))
            scratch_ns[known++] = reports[rank].line_ns[moment];
    qsort(scratch_ns, (size_t) known, sizeof *scratch_ns, by_value);
    condition->line_ns[moment] =
        known > 0 ? (scratch_ns[(known - 1) / 2] + scratch_ns[known / 2]) / 2 : NAN;
    condition->line_worst_ns[moment] = known > 0 ? scratch_ns[known - 1] : NAN;
}

/* The time of the slowest rank, for which the others wait. */
static void sum_up_arithmetic(const struct report *reports, int ranks, int moment,
                              struct mg_condition *condition)
{
    for (int rank = 0; rank < ranks; rank++) {
        condition->alu_ns[moment] = fmax(condition->alu_ns[moment], reports[rank].alu_ns[moment]);
        condition->issue_ns[moment] =
            fmax(condition->issue_ns[moment], reports[rank].issue_ns[moment]);
    }
}

/* The sum of those that are known; -1 if none is. */
static int64_t sum(int64_t a, int64_t b)
{
    if (a < 0 || b < 0)
        return a < 0 ? b : a;
    return a + b;
}

static void sum_up_counters(const struct report *reports, int ranks, struct mg_outcome *outcome)
{
    outcome->switches = outcome->wait_ns = outcome->moves = outcome->retransmits = -1;
    for (int rank = 0; rank < ranks; rank++) {
        const struct report *report = &reports[rank];

        outcome->switches    = sum(outcome->switches, report->switches);
        outcome->moves       = sum(outcome->moves, report->moved);
        outcome->retransmits = sum(outcome->retransmits, report->retransmits);
        outcome->wait_ns = report->wait_ns > outcome->wait_ns ? report->wait_ns : outcome->wait_ns;
    }
}

/* Both readings, or none. */
static mg_reals both(const double *readings)
{
    const bool known = !isnan(readings[MG_BEFORE]) && !isnan(readings[MG_AFTER]);

    return (mg_reals){readings, known ? MG_MOMENTS : 0};
}

static void put(const struct mg_condition *condition, struct mg_outcome *outcome)
{
    outcome->line_ns       = both(condition->line_ns);
    outcome->line_worst_ns = both(condition->line_worst_ns);
    outcome->path_ns       = both(condition->path_ns);
    outcome->alu_ns        = both(condition->alu_ns);
    outcome->issue_ns      = both(condition->issue_ns);
    outcome->steal_ns      = mg_counter_difference(condition->counters[MG_BEFORE].steal_ns,
                                                   condition->counters[MG_AFTER].steal_ns);
}

void mg_condition_gather(const struct mg_state *state, struct mg_condition *condition,
                         struct mg_outcome *outcome)
{
    const struct report here       = report_of(condition);
    const size_t        ranks      = state->rank == 0 ? (size_t) state->ranks : 1;
    struct report      *reports    = malloc(ranks * sizeof *reports);
    double             *scratch_ns = malloc(ranks * sizeof *scratch_ns);

    if (reports == NULL || scratch_ns == NULL)
        MG_DIE("no memory for the condition of %d ranks", state->ranks);
    MG_MPI(MPI_Gather(&here, (int) sizeof here, MPI_BYTE, reports, (int) sizeof here, MPI_BYTE, 0,
                      state->comm));
    for (int moment = 0; state->rank == 0 && moment < MG_MOMENTS; moment++) {
        sum_up_lines(reports, state->ranks, moment, scratch_ns, condition);
        sum_up_arithmetic(reports, state->ranks, moment, condition);
    }
    if (state->rank == 0) {
        sum_up_counters(reports, state->ranks, outcome);
        put(condition, outcome);
    }
    free(reports);
    free(scratch_ns);
}
