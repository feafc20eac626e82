/* warmup - once in a launch: connections, page faults, clock frequency. */
#include "rounds/warmup.h"

#include "clock/clock.h"
#include "memory/payload.h"
#include "patterns/calls.h"
#include "patterns/registry.h"
#include "ranks/abort.h"
#include "ranks/groups.h"

#include <limits.h>
#include <stdlib.h>

static void talk(const struct mg_visit *visit, size_t bytes, MPI_Comm comm, int ranks,
                 int64_t least_ns)
{
    const struct mg_pattern *shift       = mg_pattern_find("shift");
    struct mg_visit          visit_of_it = *visit;
    MPI_Request              requests[2];
    struct mg_state          state  = {.comm = comm, .ranks = ranks, .requests = requests};
    int                      slots  = 1;
    int                      go_on  = 1;
    const int64_t            end_ns = mg_now_ns() + least_ns;

    visit_of_it.pattern    = shift;
    visit_of_it.mode       = &shift->modes[0];
    visit_of_it.bytes      = bytes;
    visit_of_it.pool_bytes = 0;
    visit_of_it.in_place   = false;
    state.bytes            = bytes;
    MG_MPI(MPI_Comm_rank(comm, &state.rank));
    if (!mg_all(comm, mg_payload_reserve(&visit_of_it, state.rank)))
        return;
    mg_payload_prepare(&visit_of_it, &state, &slots);
    for (int rounds = 1; go_on; rounds++) {
        shift->modes[0].call(&state);
        go_on = rounds < 3 || mg_now_ns() < end_ns;
        mg_share(comm, &go_on, sizeof go_on);
    }
}

void mg_warm_up_group(const struct mg_plan *plan, const struct mg_visit *visit, size_t bytes,
                      MPI_Comm comm, int ranks, int64_t least_ns)
{
    talk(visit, 1, comm, ranks, least_ns);
    if (plan->warmup_bytes == 0 || bytes <= (size_t) plan->warmup_bytes)
        talk(visit, bytes, comm, ranks, least_ns);
}

/* What a visit sends: memory is worked on without messages, however large. */
static size_t message_bytes(const struct mg_visit *visit)
{
    const enum mg_family family = visit->pattern->family;

    if (family == MG_MEMORY || family == MG_FLOOR)
        return 1;
    /* A reduction counts elements, and may be more bytes than a message of this library. */
    return visit->bytes <= INT_MAX || MG_LARGE_COUNTS ? visit->bytes : INT_MAX;
}

/* For each number of ranks which visit sends most, counted from 1; 0 where no visit has so many. */
static int *find_largest(const struct mg_plan *plan)
{
    int *largest = calloc((size_t) plan->ranks + 1, sizeof *largest);

    if (largest == NULL)
        MG_DIE("no memory for groups of up to %d ranks", plan->ranks);
    for (int i = 0; i < plan->visits_count; i++) {
        const struct mg_visit *visit = &plan->visits[i];
        int                   *most  = &largest[visit->ranks];

        if (!mg_is_pair(visit) &&
            (*most == 0 || message_bytes(visit) > message_bytes(&plan->visits[*most - 1])))
            *most = i + 1;
    }
    return largest;
}

void mg_warm_up(const struct mg_plan *plan)
{
    int *largest = find_largest(plan);

    for (int ranks = 2; ranks <= plan->ranks; ranks++) {
        if (largest[ranks] == 0)
            continue;
        const struct mg_visit *most  = &plan->visits[largest[ranks] - 1];
        const struct mg_group  group = mg_group_of(ranks);
        if (group.comm != MPI_COMM_NULL) {
            mg_warm_up_group(plan, most, message_bytes(most), group.comm, ranks, plan->warmup_ns);
        }
        if (ranks < plan->ranks)
            mg_rest_until_all();
    }
    free(largest);
}
