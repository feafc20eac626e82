/* feasible - visits that cannot be measured: too large for the memory, a deadlock, no shared
 * memory.
 */
#include "probe/feasible.h"

#include "memory/granularity.h"
#include "memory/payload.h"
#include "memory/shared_memory.h"
#include "memory/windows.h"
#include "probe/crossing.h"
#include "probe/eager_probe.h"
#include "probe/heartbeat.h"
#include "ranks/groups.h"
#include "ranks/hosts.h"
#include "ranks/steps.h"
#include "ranks/stopped.h"
#include "rounds/sampling.h"
#include "text/journal.h"

static struct mg_eager first_pair; /* ranks 0 and 1; known once probed in a launch */

static struct mg_eager *eager_of(const struct mg_visit *visit)
{
    return mg_in_step(visit) ? mg_step_eager(visit) : &first_pair;
}

/* The largest message that the plan sends between these ranks before it is received.  The limit is
 * probed up to there, once per launch, by the first visit that needs it. */
static size_t largest_unreceived(const struct mg_plan *plan, const struct mg_visit *like)
{
    size_t largest = 1;

    for (int i = 0; i < plan->visits_count; i++) {
        const struct mg_visit *visit = &plan->visits[i];

        if ((visit->mode->needs_eager || visit->pattern->sampling->probes) &&
            mg_same_ranks(visit, like) && visit->bytes > largest)
            largest = visit->bytes;
    }
    return largest;
}

static void probe_once(const struct mg_plan *plan, const struct mg_visit *visit,
                       struct mg_state *state)
{
    struct mg_eager *eager   = eager_of(visit);
    struct mg_visit  largest = *visit;
    int              slots   = 1;
    int              stops   = 0;

    if (eager->known)
        return;
    largest.bytes = largest_unreceived(plan, visit);
    if (!mg_all_true(state->comm, mg_payload_reserve(&largest, state->rank)))
        return;
    mg_payload_prepare(&largest, state, &slots);
    do { /* once more if a rank was stopped, since then nothing completes in time */
        stops  = mg_stopped_count();
        *eager = mg_eager_probe(state, largest.bytes, mg_heartbeat);
    } while (!mg_all_true(state->comm, mg_stopped_count() == stops));
}

/* Also where an earlier visit has probed the limit, whose buffers may have another size. */
static struct mg_crossing time_crossing(const struct mg_visit *visit, struct mg_state *state)
{
    const int64_t      limit_bytes = eager_of(visit)->limit_bytes;
    struct mg_visit    above       = *visit;
    struct mg_crossing crossing    = {0};
    int                slots       = 1;
    int                stops       = 0;

    above.bytes = (size_t) limit_bytes + 1;
    if (!eager_of(visit)->found ||
        !mg_all_true(state->comm, mg_payload_reserve(&above, state->rank)))
        return crossing;
    mg_payload_prepare(&above, state, &slots);
    do { /* once more if a rank was stopped */
        stops    = mg_stopped_count();
        crossing = mg_crossing_time(state, limit_bytes, mg_heartbeat);
    } while (!mg_all_true(state->comm, mg_stopped_count() == stops));
    return crossing;
}

void mg_eager_visit(const struct mg_plan *plan, const struct mg_visit *visit,
                    struct mg_state *state, int64_t at_ns)
{
    struct mg_crossing crossing = {0};

    probe_once(plan, visit, state);
    if (eager_of(visit)->known)
        crossing = time_crossing(visit, state);
    if (state->rank != 0)
        return;
    if (eager_of(visit)->known)
        mg_journal_eager(visit, eager_of(visit), &crossing, at_ns);
    else
        mg_journal_refused(visit, "there is no memory for a message of this size");
}

static const char *const unshared[] = {
    [MG_UNSHARED_OTHER_HOST] = "its ranks share no memory: they are on different hosts",
    [MG_UNSHARED_NO_ROOM]    = "a rank has no room for the memory to be shared",
    [MG_UNSHARED_NO_FILE]    = "rank 0 cannot make the memory to be shared",
};

static bool shares(const struct mg_visit *visit, struct mg_state *state)
{
    const enum mg_unshared why = mg_shared_reserve(state, MG_PAGE_MAX_BYTES + visit->bytes);

    if (why != MG_SHARED && state->rank == 0)
        mg_journal_refused(visit, unshared[why]);
    return why == MG_SHARED;
}

/* Why a visit is refused, on rank 0; not NULL on all ranks if on any. */
static const char *refusal_of(const struct mg_visit *visit, struct mg_state *state)
{
    int slots = 1;

    mg_payload_prepare(visit, state, &slots);
    const char *here = visit->pattern->refuse(visit->mode, state);
    const bool  none = mg_all_true(state->comm, here == NULL);
    return none ? NULL : here != NULL ? here : "another rank than 0 cannot take part";
}

static bool is_refused(const struct mg_visit *visit, struct mg_state *state)
{
    const char *why = visit->pattern->refuse != NULL ? refusal_of(visit, state) : NULL;

    if (why != NULL && state->rank == 0)
        mg_journal_refused(visit, why);
    return why != NULL;
}

/* Whether all ranks of a visit are on one host; says so if they are not. */
static bool on_one_host(const struct mg_visit *visit, const struct mg_state *state)
{
    const int *leader_of = mg_hosts()->leader_of;

    for (int rank = 1; rank < visit->ranks; rank++) {
        if (leader_of[mg_world_rank(visit, rank)] == leader_of[mg_world_rank(visit, 0)])
            continue;
        if (state->rank == 0)
            mg_journal_refused(visit, unshared[MG_UNSHARED_OTHER_HOST]);
        return false;
    }
    return true;
}

static bool has_window(const struct mg_visit *visit, struct mg_state *state)
{
    const char *why = NULL;

    state->rma = mg_window_of(visit, &why);
    if (state->rma != NULL && visit->mode->needs_unified && !state->rma->is_unified)
        why = "it needs the unified memory model, and MPI_WIN_MODEL says that this window has "
              "another";
    if (why != NULL && state->rank == 0)
        mg_journal_refused(visit, why);
    return why == NULL;
}

bool mg_is_feasible(const struct mg_plan *plan, const struct mg_visit *visit,
                    struct mg_state *state)
{
    const bool needs_eager = visit->mode->needs_eager;

    if (visit->pattern->one_sided && !has_window(visit, state))
        return false; /* before its buffers are prepared, one of which is in the window */
    if (needs_eager)
        probe_once(plan, visit, state);
    if ((needs_eager && !eager_of(visit)->known) ||
        !mg_all_true(state->comm, mg_payload_reserve(visit, state->rank))) {
        if (state->rank == 0)
            mg_journal_refused(visit, "there is no memory for a message of this size");
        return false;
    }
    if (needs_eager && (int64_t) visit->bytes > eager_of(visit)->longer_bytes) {
        if (state->rank == 0)
            mg_journal_blocked(visit, eager_of(visit));
        return false;
    }
    if (is_refused(visit, state))
        return false;
    if (visit->mode->needs_one_host && !on_one_host(visit, state))
        return false;
    return !visit->pattern->shares_memory || shares(visit, state);
}
