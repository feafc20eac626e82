/* steps - visits of pairs of ranks and of the groups of the plan, each with a communicator of its
 * own, several of them at the same time.
 *
 * The first rank of a group leads it.  Before a step the leaders tell rank 0 whether they measure;
 * rank 0 writes that to the journal, and all start together.  Leaders keep what they have measured
 * until the whole step is done, so that no message to rank 0 disturbs another group; only ticks of
 * slow rounds are sent at once.
 *
 * Where the rounds of a pattern have a common start, all groups of a step have the same one in
 * every round: they are started by the first rank of the first group, over a communicator of all.
 */
#include "ranks/steps.h"

#include "clock/clock.h"
#include "clock/global_clock.h"
#include "ranks/abort.h"
#include "ranks/groups.h"
#include "ranks/hosts.h"
#include "ranks/settle.h"
#include "rounds/cell.h"
#include "rounds/sampling.h"
#include "rounds/warmup.h"
#include "text/journal.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TAG_READY = 11,
    TAG_OFFER = 12,
    TAG_START = 13,
    TAG_LINES = 14,
    TAG_TICK  = 15,
    KEPT_MAX  = 64, /* communicators of pairs, and of groups, that a rank keeps */
};

/* A pair or group that this rank is in. */
struct kept {
    struct mg_group group;
    size_t          largest; /* bytes of their largest message, at least 1, until the warm-up */
    struct mg_eager eager;
};

/* Groups of a step that start together. */
struct joint {
    const struct mg_visit *visits; /* the first such step */
    int                    count;
    MPI_Comm               comm; /* MPI_COMM_NULL on ranks outside */
    int                    ranks;
};

static struct {
    struct kept
        *kept; /* pairs by the other rank, then the groups of the plan; NULL if not needed */
    struct joint *joints;
    int           joints_count;
    int           groups_count;
    int           ranks;
    int           rank;
    bool          has_clock; /* a global clock is known before the first step */
    MPI_Comm      control;   /* of the world, for messages between visits */
} world = {.control = MPI_COMM_NULL};

static int leader_of(const struct mg_visit *visit)
{
    return mg_members(visit)[0];
}

static bool leads(const struct mg_visit *visit)
{
    return leader_of(visit) == world.rank;
}

static struct kept *kept_of(const struct mg_visit *visit)
{
    if (visit->members != NULL)
        return &world.kept[world.ranks + visit->members->index];
    return &world.kept[visit->pair[visit->pair[0] == world.rank]];
}

struct mg_eager *mg_step_eager(const struct mg_visit *visit)
{
    return &kept_of(visit)->eager;
}

int mg_step_length(const struct mg_visit *visits, const struct mg_visit *end)
{
    int count = 1;

    while (visits + count < end && visits[count].step == visits->step)
        count++;
    return count;
}

/* Whether the groups of a step have a common start in every round. */
static bool starts_jointly(const struct mg_visit *visits, int count)
{
    return count > 1 && visits->members != NULL && visits->pattern->sampling->starts_together;
}

/* ---- The plan -------------------------------------------------------------------------------- */

static void check_alike(const struct mg_visit *visits, int count)
{
    for (int i = 1; i < count; i++) {
        const struct mg_visit *visit = &visits[i];
        const bool alike = visit->pattern == visits->pattern && visit->mode == visits->mode &&
                           visit->members != NULL;

        if (!alike && (visit->members != NULL || visits->members != NULL))
            MG_DIE("the groups of a step do different things, at visit %lld",
                   (long long) visit->id);
    }
}

static void check_busy(const struct mg_visit *visit, int64_t step, int64_t *busy_until)
{
    for (int i = 0; i < visit->ranks; i++) {
        const int rank = mg_members(visit)[i];

        if (busy_until[rank] == step)
            MG_DIE("the plan has rank %d twice in a step, at visit %lld", rank,
                   (long long) visit->id);
        busy_until[rank] = step;
    }
}

void mg_steps_check(const struct mg_plan *plan)
{
    const struct mg_visit *end        = plan->visits + plan->visits_count;
    int64_t               *busy_until = calloc((size_t) plan->ranks, sizeof *busy_until);
    int64_t                step       = 0; /* counted here: the plan may use a number again later */
    int                    count      = 1;

    if (busy_until == NULL)
        MG_DIE("no memory for the plan");
    for (const struct mg_visit *visits = plan->visits; visits < end; visits += count) {
        count = mg_in_step(visits) ? mg_step_length(visits, end) : 1;
        step++;
        check_alike(visits, count);
        for (int i = 0; mg_in_step(visits) && i < count; i++)
            check_busy(&visits[i], step, busy_until);
    }
    free(busy_until);
}

/* ---- Communicators --------------------------------------------------------------------------- */

static MPI_Comm begin_group(const struct mg_visit *visit)
{
    struct mg_group *group = &kept_of(visit)->group;

    if (group->comm == MPI_COMM_NULL)
        group->comm = mg_comm_of_members(mg_members(visit), group->ranks);
    return group->comm;
}

/* Making a communicator takes several messages, so it is kept; but in a large job a rank would have
 * more of them than its library has room for. */
static void end_group(const struct mg_visit *visit)
{
    const bool many =
        visit->members != NULL ? world.groups_count > KEPT_MAX : world.ranks > KEPT_MAX + 1;

    if (many)
        MG_MPI(MPI_Comm_free(&kept_of(visit)->group.comm));
}

static bool same_groups(const struct joint *joint, const struct mg_visit *visits, int count)
{
    bool same = joint->count == count;

    for (int i = 0; same && i < count; i++)
        same = joint->visits[i].members == visits[i].members;
    return same;
}

static struct joint *joint_of(const struct mg_visit *visits, int count)
{
    for (int i = 0; i < world.joints_count; i++)
        if (same_groups(&world.joints[i], visits, count))
            return &world.joints[i];
    return NULL;
}

static void add_joint(const struct mg_visit *visits, int count)
{
    struct joint *more =
        realloc(world.joints, ((size_t) world.joints_count + 1) * sizeof *world.joints);

    if (more == NULL)
        MG_DIE("no memory for groups that start together");
    world.joints        = more;
    struct joint *joint = &world.joints[world.joints_count++];
    *joint              = (struct joint){.visits = visits, .count = count, .comm = MPI_COMM_NULL};
    for (int i = 0; i < count; i++)
        joint->ranks += visits[i].members->count;
}

/* On all of its ranks. */
static void begin_joint(struct joint *joint)
{
    int *ranks = malloc((size_t) joint->ranks * sizeof *ranks);
    int  known = 0;

    if (ranks == NULL)
        MG_DIE("no memory for groups that start together");
    for (int i = 0; i < joint->count; i++) {
        const struct mg_members *members = joint->visits[i].members;

        memcpy(ranks + known, members->ranks, (size_t) members->count * sizeof *ranks);
        known += members->count;
    }
    joint->comm = mg_comm_of_members(ranks, joint->ranks);
    free(ranks);
}

/* As end_group. */
static void end_joint(struct joint *joint)
{
    if (joint->comm != MPI_COMM_NULL && world.joints_count > KEPT_MAX)
        MG_MPI(MPI_Comm_free(&joint->comm));
}

bool mg_needs_clock(const struct mg_plan *plan)
{
    for (int i = 0; i < plan->visits_count; i++)
        if (plan->visits[i].pattern->sampling->starts_together)
            return true;
    return false;
}

static void make_all(const struct mg_plan *plan)
{
    MG_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &world.rank));
    MG_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &world.control));
    world.ranks        = plan->ranks;
    world.groups_count = plan->groups_count;
    world.has_clock    = mg_needs_clock(plan);
    const int count    = plan->ranks + plan->groups_count;
    world.kept         = calloc((size_t) count, sizeof *world.kept);
    if (world.kept == NULL)
        MG_DIE("no memory for the pairs and groups of %d ranks", plan->ranks);
    for (int i = 0; i < count; i++)
        world.kept[i].group.comm = MPI_COMM_NULL;
}

static bool takes_part(const struct mg_visit *visit)
{
    return mg_in_step(visit) && mg_takes_part(visit, world.rank);
}

static void find_largest(const struct mg_plan *plan)
{
    for (int i = 0; i < plan->visits_count; i++) {
        const struct mg_visit *visit = &plan->visits[i];
        const size_t           bytes = mg_warm_up_bytes(visit);

        if (!takes_part(visit))
            continue;
        struct kept *kept = kept_of(visit);
        kept->group.ranks = visit->ranks;
        kept->largest     = kept->largest < bytes ? bytes : kept->largest;
    }
}

static void warm_up_group(const struct mg_plan *plan, const struct mg_visit *visit,
                          int64_t least_ns)
{
    struct kept *kept = kept_of(visit);

    mg_warm_up_group(plan, visit, kept->largest, begin_group(visit), kept->group.ranks, least_ns);
    end_group(visit);
    kept->largest = 0;
}

/* In the order of the plan, which is the same on all ranks, so that there is no deadlock.  A
 * connection made later would disturb other groups that measure. */
static void warm_up_all(const struct mg_plan *plan)
{
    const int64_t pair_ns = plan->warmup_ns / (plan->ranks > 2 ? plan->ranks - 1 : 1);

    for (int i = 0; i < plan->visits_count; i++) {
        const struct mg_visit *visit = &plan->visits[i];

        if (takes_part(visit) && kept_of(visit)->largest > 0)
            warm_up_group(plan, visit, visit->members != NULL ? plan->warmup_ns : pair_ns);
    }
}

static bool is_in(const struct joint *joint)
{
    for (int i = 0; i < joint->count; i++)
        if (joint->visits[i].members->place >= 0)
            return true;
    return false;
}

static void make_joints(const struct mg_plan *plan)
{
    const struct mg_visit *end   = plan->visits + plan->visits_count;
    int                    count = 1;

    for (const struct mg_visit *visits = plan->visits; visits < end; visits += count) {
        count = mg_in_step(visits) ? mg_step_length(visits, end) : 1;
        if (starts_jointly(visits, count) && joint_of(visits, count) == NULL)
            add_joint(visits, count);
    }
    for (int i = 0; i < world.joints_count && world.joints_count <= KEPT_MAX; i++)
        if (is_in(&world.joints[i]))
            begin_joint(&world.joints[i]);
}

void mg_steps_warm_up(const struct mg_plan *plan)
{
    if (!plan->has_steps)
        return;
    make_all(plan);
    find_largest(plan);
    warm_up_all(plan);
    make_joints(plan);
    mg_idle_barrier();
}

void mg_steps_free(void)
{
    if (world.kept == NULL)
        return;
    for (int i = 0; i < world.ranks + world.groups_count; i++)
        if (world.kept[i].group.comm != MPI_COMM_NULL)
            MG_MPI(MPI_Comm_free(&world.kept[i].group.comm));
    for (int i = 0; i < world.joints_count; i++)
        if (world.joints[i].comm != MPI_COMM_NULL)
            MG_MPI(MPI_Comm_free(&world.joints[i].comm));
    free(world.kept);
    free(world.joints);
    world.kept         = NULL;
    world.joints       = NULL;
    world.joints_count = 0;
    MG_MPI(MPI_Comm_free(&world.control));
}

/* ---- Before a step --------------------------------------------------------------------------- */

static struct mg_offer offer_from(const struct mg_visit *visit, const struct mg_offer *own)
{
    struct mg_offer offer = {0};

    if (leads(visit))
        return *own;
    MG_MPI(MPI_Recv(&offer, (int) sizeof offer, MPI_BYTE, leader_of(visit), TAG_OFFER,
                    world.control, MPI_STATUS_IGNORE));
    return offer;
}

/* Groups that start together are skipped together: when one can never be measured again or the time
 * is over, or when no group needs the visit.  Otherwise those that do would lack their company. */
static void skip_jointly(struct mg_offer *offers, int count)
{
    const char *why   = NULL;
    bool        every = true;

    for (int i = 0; i < count; i++) {
        const char *skip = offers[i].skip;

        every = every && skip[0] != '\0';
        if (why == NULL && mg_skip_is_final(skip))
            why = skip;
    }
    for (int i = 0; i < count; i++) {
        struct mg_offer *offer = &offers[i];

        if (why == NULL && !every)
            offer->skip[0] = '\0';
        else if (offer->skip[0] == '\0')
            (void) snprintf(offer->skip, sizeof offer->skip, "%s", why);
    }
}

static struct mg_offer *collect_offers(const struct mg_visit *visits, int count,
                                       const struct mg_offer *own)
{
    struct mg_offer *offers = calloc((size_t) count, sizeof *offers);

    if (offers == NULL)
        MG_DIE("no memory for a step of %d visits", count);
    for (int i = 0; i < count; i++)
        offers[i] = offer_from(&visits[i], own);
    if (starts_jointly(visits, count))
        skip_jointly(offers, count);
    return offers;
}

static void write_offers(const struct mg_visit *visits, int count, const struct mg_offer *offers,
                         int64_t start_ns)
{
    for (int i = 0; i < count; i++) {
        if (offers[i].skip[0] != '\0')
            mg_journal_skip(&visits[i], offers[i].skip);
        else
            mg_journal_begin(&visits[i], mg_since_ns(start_ns), offers[i].expect_ns);
    }
    mg_settle();
}

/* The other ranks report to their leader, and the leader's offer to rank 0 reports all. */
static void report_ready(const struct mg_visit *visit, const struct mg_offer *offer)
{
    if (!leads(visit)) {
        MG_MPI(MPI_Send(NULL, 0, MPI_BYTE, leader_of(visit), TAG_READY, world.control));
        return;
    }
    for (int i = 1; i < visit->ranks; i++)
        MG_MPI(MPI_Recv(NULL, 0, MPI_BYTE, mg_world_rank(visit, i), TAG_READY, world.control,
                        MPI_STATUS_IGNORE));
    if (world.rank != 0)
        MG_MPI(MPI_Send(offer, (int) sizeof *offer, MPI_BYTE, 0, TAG_OFFER, world.control));
}

/* What rank 0 tells all ranks that take part: when the launch began by its clock, how long ago that
 * is, and whether they measure. */
struct word {
    int64_t start_ns;
    int64_t since_ns;
    int64_t go;
};

static void send_start(const struct mg_visit *visits, int count, const struct mg_offer *offers,
                       int64_t start_ns)
{
    struct word word = {.start_ns = start_ns, .since_ns = mg_since_ns(start_ns)};

    for (int i = 0; i < count; i++) {
        word.go = offers[i].skip[0] == '\0';
        for (int k = 0; k < visits[i].ranks; k++)
            if (mg_members(&visits[i])[k] != 0)
                MG_MPI(MPI_Send(&word, (int) sizeof word, MPI_BYTE, mg_members(&visits[i])[k],
                                TAG_START, world.control));
    }
}

/* When the launch began, by the clock of this rank.  A rank may hear of it late, where it has to
 * wait for a core; so that counts only where its clock is not that of rank 0. */
static int64_t start_of(const struct word *word)
{
    const struct mg_hosts *hosts = mg_hosts();

    if (world.has_clock || hosts->leader_of[world.rank] == hosts->leader_of[0])
        return mg_local_of(word->start_ns);
    return mg_now_ns() - word->since_ns;
}

static struct word await_start(void)
{
    struct word word = {0};

    MG_MPI(MPI_Recv(&word, (int) sizeof word, MPI_BYTE, 0, TAG_START, world.control,
                    MPI_STATUS_IGNORE));
    return word;
}

static const struct mg_visit *own_of(const struct mg_visit *visits, int count)
{
    for (int i = 0; i < count; i++)
        if (mg_takes_part(&visits[i], world.rank))
            return &visits[i];
    return NULL;
}

/* On rank 0: whether its own visit, if it has one, is made. */
static bool start_all(const struct mg_visit *visits, int count, const struct mg_visit *own,
                      const struct mg_offer *offer, int64_t start_ns)
{
    struct mg_offer *offers = collect_offers(visits, count, offer);

    write_offers(visits, count, offers, start_ns);
    send_start(visits, count, offers, start_ns);
    const bool go = own != NULL && offers[own - visits].skip[0] == '\0';
    free(offers);
    return go;
}

static struct mg_starters starters_of(const struct mg_visit *visits, int count,
                                      const struct mg_visit *own)
{
    struct mg_starters starters = {.comm  = kept_of(own)->group.comm,
                                   .rank  = mg_own_place(own, world.rank),
                                   .ranks = own->ranks,
                                   .key   = world.ranks + 1};

    if (own->members != NULL)
        starters.key += 1 + own->members->index;
    else if (mg_in_step(own)) /* a pair: the other rank, which no other key is */
        starters.key = -1 - own->pair[own->pair[0] == world.rank];
    if (starts_jointly(visits, count)) {
        struct joint *joint = joint_of(visits, count);

        if (joint->comm == MPI_COMM_NULL)
            begin_joint(joint);
        starters.comm  = joint->comm;
        starters.ranks = joint->ranks;
        starters.key   = world.ranks + 2 + world.groups_count + (int) (joint - world.joints);
        MG_MPI(MPI_Comm_rank(joint->comm, &starters.rank));
    }
    return starters;
}

struct mg_step mg_step_begin(const struct mg_visit *visits, int count, mg_offer_fn offer_of,
                             void *context, int64_t *start_ns_p)
{
    const struct mg_visit *own   = own_of(visits, count);
    struct mg_step         step  = {.visit = own, .comm = MPI_COMM_NULL};
    struct mg_offer        offer = {0};

    if (own != NULL && leads(own))
        offer = offer_of(context, own);
    if (own != NULL)
        report_ready(own, &offer);
    if (world.rank == 0) {
        step.go = start_all(visits, count, own, &offer, *start_ns_p);
    } else if (own != NULL) {
        const struct word word = await_start();

        step.go     = word.go;
        *start_ns_p = start_of(&word);
    }
    if (own != NULL) {
        step.comm     = begin_group(own);
        step.starters = starters_of(visits, count, own);
    }
    return step;
}

/* ---- After a step ---------------------------------------------------------------------------- */

void mg_step_send_tick(int64_t visit, int64_t round_ns)
{
    const int64_t words[2] = {visit, round_ns};

    MG_MPI(MPI_Send(words, 2, MPI_INT64_T, 0, TAG_TICK, world.control));
}

static void receive_ticks(void)
{
    for (;;) {
        int     arrived = 0;
        int64_t words[2];

        MG_MPI(MPI_Iprobe(MPI_ANY_SOURCE, TAG_TICK, world.control, &arrived, MPI_STATUS_IGNORE));
        if (!arrived)
            return;
        MG_MPI(MPI_Recv(words, 2, MPI_INT64_T, MPI_ANY_SOURCE, TAG_TICK, world.control,
                        MPI_STATUS_IGNORE));
        mg_journal_tick_of(words[0], words[1]);
    }
}

static void send_lines(void)
{
    size_t bytes = 0;
    char  *lines = mg_journal_kept(&bytes);

    if (bytes > INT_MAX)
        MG_DIE("the lines of a visit are too long");
    MG_MPI(MPI_Send(lines, (int) bytes, MPI_CHAR, 0, TAG_LINES, world.control));
    free(lines);
}

static void receive_lines(int leader)
{
    MPI_Status status;
    int        bytes = 0;

    MG_MPI(MPI_Probe(leader, TAG_LINES, world.control, &status));
    receive_ticks(); /* a last one was sent before the lines, so it is here now */
    MG_MPI(MPI_Get_count(&status, MPI_CHAR, &bytes));
    char *lines = malloc((size_t) bytes + 1);
    if (lines == NULL)
        MG_DIE("no memory for %d B of journal", bytes);
    MG_MPI(MPI_Recv(lines, bytes, MPI_CHAR, leader, TAG_LINES, world.control, MPI_STATUS_IGNORE));
    mg_journal_lines(lines, (size_t) bytes);
    free(lines);
}

void mg_step_end(const struct mg_visit *visits, int count)
{
    if (world.rank != 0)
        mg_idle_barrier();
    else
        mg_idle_barrier_polling(receive_ticks);
    const struct mg_visit *own = own_of(visits, count);

    if (own != NULL)
        end_group(own);
    if (own != NULL && starts_jointly(visits, count))
        end_joint(joint_of(visits, count));
    for (int i = 0; i < count; i++) {
        if (leader_of(&visits[i]) == 0)
            continue;
        if (world.rank == 0)
            receive_lines(leader_of(&visits[i]));
        else if (leads(&visits[i]))
            send_lines();
    }
}
