/* warmup - once per launch: connections, page faults, clock frequency. */
#include "rounds/warmup.h"

#include "clock/clock.h"
#include "memory/payload.h"
#include "patterns/calls.h"
#include "patterns/registry.h"
#include "ranks/abort.h"
#include "ranks/groups.h"

#include <limits.h>
#include <stdlib.h>

static void exchange(const struct mg_visit *visit, size_t bytes, MPI_Comm comm, int ranks,
                     int64_t least_ns)
{
    const struct mg_pattern *shift   = mg_pattern_find("shift");
    struct mg_visit          shifted = *visit;
    MPI_Request              requests[2];
    struct mg_state          state  = {.comm = comm, .ranks = ranks, .requests = requests};
    int                      slots  = 1;
    int                      more   = 1;
    const int64_t            end_ns = mg_now_ns() + least_ns;

    shifted.pattern    = shift;
    shifted.mode       = &shift->modes[0];
    shifted.bytes      = bytes;
    shifted.pool_bytes = 0;
    shifted.in_place   = false;
    state.bytes        = bytes;
    MG_MPI(MPI_Comm_rank(comm, &state.rank));
    if (!mg_all_true(comm, mg_payload_reserve(&shifted, state.rank)))
        return;
    mg_payload_prepare(&shifted, &state, &slots);
    for (int rounds = 1; more; rounds++) {
        shift->modes[0].call(&state);
        more = rounds < 3 || mg_now_ns() < end_ns;
        mg_broadcast(comm, &more, sizeof more);
    }
}

void mg_warm_up_group(const struct mg_plan *plan, const struct mg_visit *visit, size_t bytes,
                      MPI_Comm comm, int ranks, int64_t least_ns)
{
    exchange(visit, 1, comm, ranks, least_ns);
    if (plan->warmup_bytes == 0 || bytes <= (size_t) plan->warmup_bytes)
        exchange(visit, bytes, comm, ranks, least_ns);
}

/* Patterns that only use memory send none. */
static size_t message_bytes(const struct mg_visit *visit)
{
    const enum mg_family family = visit->pattern->family;

    if (family == MG_MEMORY || family == MG_FLOOR)
        return 1;
    /* A reduction counts elements, and may have more bytes than a message of this library. */
    return visit->bytes <= INT_MAX || MG_LARGE_COUNTS ? visit->bytes : INT_MAX;
}

size_t mg_warm_up_bytes(const struct mg_visit *visit)
{
    const size_t bytes = message_bytes(visit);

    return bytes > 0 ? bytes : 1;
}

/* For each number of ranks, the visit with the largest messages, counted from 1; 0 if there is
 * none.
 */
static int *find_largest(const struct mg_plan *plan)
{
    int *largest = calloc((size_t) plan->ranks + 1, sizeof *largest);

    if (largest == NULL)
        MG_DIE("no memory for groups of up to %d ranks", plan->ranks);
    for (int i = 0; i < plan->visits_count; i++) {
        const struct mg_visit *visit = &plan->visits[i];
        int                   *most  = &largest[visit->ranks];

        if (!mg_in_step(visit) &&
            (*most == 0 || message_bytes(visit) > message_bytes(&plan->visits[*most - 1])))
            *most = i + 1;
    }
    return largest;
}

static bool has_pattern(const struct mg_plan *plan, const struct mg_pattern *pattern)
{
    for (int i = 0; i < plan->visits_count; i++)
        if (plan->visits[i].pattern == pattern)
            return true;
    return false;
}

/* What the first use of a pattern needs of all ranks.  A rank may not know of the visits of others'
 * pairs, so all are asked. */
static void first_uses(const struct mg_plan *plan)
{
    for (size_t i = 0; mg_pattern_at(i) != NULL; i++) {
        const struct mg_pattern *pattern = mg_pattern_at(i);

        if (pattern->first_use != NULL && !mg_all_true(MPI_COMM_WORLD, !has_pattern(plan, pattern)))
            pattern->first_use(MPI_COMM_WORLD);
    }
}

void mg_warm_up(const struct mg_plan *plan)
{
    int *largest = find_largest(plan);

    first_uses(plan);
    for (int ranks = 2; ranks <= plan->ranks; ranks++) {
        if (largest[ranks] == 0)
            continue;
        const struct mg_visit *most  = &plan->visits[largest[ranks] - 1];
        const struct mg_group  group = mg_group_of(ranks);
        if (group.comm != MPI_COMM_NULL) {
            mg_warm_up_group(plan, most, message_bytes(most), group.comm, ranks, plan->warmup_ns);
        }
        if (ranks < plan->ranks)
            mg_idle_barrier();
    }
    free(largest);
}
