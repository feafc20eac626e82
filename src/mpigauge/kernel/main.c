/* main - mpigauge-kernel PLAN JOURNAL: measures the visits of a plan and writes a journal.
 *
 * `-` is standard input or output.  `--describe` lists the patterns as JSON, before
 * MPI_Init.
 */
#include "clock/clock.h"
#include "machine/pools.h"
#include "memory/payload.h"
#include "probe/first_message.h"
#include "ranks/abort.h"
#include "ranks/groups.h"
#include "ranks/hosts.h"
#include "ranks/orphan.h"
#include "ranks/oversubscribed.h"
#include "ranks/steps.h"
#include "ranks/stopped.h"
#include "ranks/watchdog.h"
#include "rounds/measure.h"
#include "text/describe.h"
#include "text/journal.h"
#include "text/launch_line.h"
#include "text/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_USAGE = 2 };

static int usage(void)
{
    (void) fprintf(stderr, "usage: mpigauge-kernel PLAN JOURNAL   (- is standard input or output)\n"
                           "       mpigauge-kernel --describe\n");
    return EXIT_USAGE;
}

static void check_ranks(const struct mg_plan *plan)
{
    int ranks = 0;

    MG_MPI(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    if (ranks != plan->ranks)
        MG_DIE("the plan is for %d ranks, this job has %d: is mpiexec of another MPI library?",
               plan->ranks, ranks);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--describe") == 0) {
        mg_describe(stdout);
        return EXIT_SUCCESS;
    }
    if (argc != 3)
        return usage();

    mg_stopped_watch();
    mg_exit_with_launcher();
    mg_exit_with_owner();
    (void) mg_now_ns(); /* the first reading takes longer */
    const int64_t before_init_ns = mg_now_ns();
    MG_MPI(MPI_Init(&argc, &argv));
    const int64_t init_ns = mg_since_ns(before_init_ns);
    MG_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    MG_MPI(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)); /* for calls without one */

    const int64_t first_ns = mg_first_round_trip_ns();

    mg_clock_choose();

    mg_watchdog_await_plan();
    const int64_t  start_ns = mg_now_ns();
    struct mg_plan plan     = mg_plan_read(argv[1]);

    mg_watchdog_cancel();
    mg_steps_check(&plan);
    mg_journal_open(argv[2]);
    if (plan.watched && mg_journal_is_open())
        mg_exit_with_input();
    mg_journal_launch(plan.ranks, init_ns, first_ns);
    check_ranks(&plan);
    mg_pools_fit(&plan);
    mg_oversubscribed_find(plan.cores);
    mg_measure(&plan, start_ns);
    mg_journal_end(mg_since_ns(start_ns));

    mg_journal_close();
    mg_payload_free();
    mg_plan_free(&plan);
    mg_groups_free();
    mg_hosts_free();
    mg_steps_free();
    MG_MPI(MPI_Finalize());
    return EXIT_SUCCESS;
}
