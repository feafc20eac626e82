/* pairs - pairs of ranks, each with a communicator of its own, and steps: visits of several pairs
 * at the same time.
 *
 * The lower rank of a pair leads it.  Before a step the leaders tell rank 0 whether they measure;
 * rank 0 writes that to the journal, and all pairs start together.  Leaders keep what they have
 * measured until the whole step is done, so that no message to rank 0 disturbs another pair; only
 * ticks of slow rounds are sent at once. */
#include "ranks/pairs.h"

#include "clock/clock.h"
#include "ranks/abort.h"
#include "ranks/groups.h"
#include "ranks/settle.h"
#include "rounds/warmup.h"
#include "text/journal.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    TAG_READY      = 11,
    TAG_OFFER      = 12,
    TAG_START      = 13,
    TAG_LINES      = 14,
    TAG_TICK       = 15,
    KEPT_RANKS_MAX = 65, /* of a job: at most 64 communicators per rank are kept */
};

/* This rank and another. */
struct pair {
    MPI_Comm        comm; /* MPI_COMM_NULL before the warm-up, and in a large job between visits */
    size_t          largest; /* bytes of their largest message, at least 1, until the warm-up */
    struct mg_eager eager;
};

static struct {
    struct pair *pairs; /* by the other rank; NULL while not needed */
    int          ranks;
    int          rank;
    MPI_Comm     control; /* of the world, for messages between visits */
} world = {.control = MPI_COMM_NULL};

static int leader_of(const struct mg_visit *visit)
{
    return visit->pair[0];
}

static bool leads(const struct mg_visit *visit)
{
    return leader_of(visit) == world.rank;
}

static struct pair *pair_of(const struct mg_visit *visit)
{
    return &world.pairs[visit->pair[visit->pair[0] == world.rank]];
}

struct mg_eager *mg_pair_eager(const struct mg_visit *visit)
{
    return &pair_of(visit)->eager;
}

int mg_step_length(const struct mg_visit *visits, const struct mg_visit *end)
{
    int count = 1;

    while (visits + count < end && visits[count].step == visits->step)
        count++;
    return count;
}

void mg_pairs_check(const struct mg_plan *plan)
{
    int64_t *busy_until = calloc((size_t) plan->ranks, sizeof *busy_until);
    int64_t  step       = 0; /* counted here: the plan may use a number again later */

    if (busy_until == NULL)
        MG_DIE("no memory for the plan");
    for (int i = 0; i < plan->visits_count; i++) {
        const struct mg_visit *visit = &plan->visits[i];

        step += i == 0 || visit->step != plan->visits[i - 1].step;
        for (int side = 0; mg_is_pair(visit) && side < 2; side++) {
            if (busy_until[visit->pair[side]] == step)
                MG_DIE("the plan has rank %d twice in a step, at visit %lld", visit->pair[side],
                       (long long) visit->id);
            busy_until[visit->pair[side]] = step;
        }
    }
    free(busy_until);
}

/* ---- Communicators --------------------------------------------------------------------------- */

/* Collective over the two ranks. */
static MPI_Comm comm_of(const struct mg_visit *visit)
{
    MPI_Group everybody = MPI_GROUP_NULL;
    MPI_Group both      = MPI_GROUP_NULL;
    MPI_Comm  comm      = MPI_COMM_NULL;

    MG_MPI(MPI_Comm_group(MPI_COMM_WORLD, &everybody));
    MG_MPI(MPI_Group_incl(everybody, 2, visit->pair, &both));
    MG_MPI(MPI_Comm_create_group(MPI_COMM_WORLD, both, MG_TAG_CONTROL, &comm));
    MG_MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    MG_MPI(MPI_Group_free(&both));
    MG_MPI(MPI_Group_free(&everybody));
    return comm;
}

MPI_Comm mg_pair_begin(const struct mg_visit *visit)
{
    struct pair *pair = pair_of(visit);

    if (pair->comm == MPI_COMM_NULL)
        pair->comm = comm_of(visit);
    return pair->comm;
}

/* Making a communicator takes several messages, so it is kept; but in a large job a rank would have
 * more of them than its library has room for. */
void mg_pair_end(const struct mg_visit *visit)
{
    if (world.ranks > KEPT_RANKS_MAX)
        MG_MPI(MPI_Comm_free(&pair_of(visit)->comm));
}

static void make_all(const struct mg_plan *plan)
{
    MG_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &world.rank));
    MG_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &world.control));
    world.ranks = plan->ranks;
    world.pairs = calloc((size_t) plan->ranks, sizeof *world.pairs);
    if (world.pairs == NULL)
        MG_DIE("no memory for the pairs of %d ranks", plan->ranks);
    for (int other = 0; other < plan->ranks; other++)
        world.pairs[other].comm = MPI_COMM_NULL;
}

static bool takes_part(const struct mg_visit *visit)
{
    return mg_is_pair(visit) && mg_takes_part(visit, world.rank);
}

static void find_largest(const struct mg_plan *plan)
{
    for (int i = 0; i < plan->visits_count; i++) {
        const struct mg_visit *visit = &plan->visits[i];
        const size_t           bytes = visit->bytes > 0 ? visit->bytes : 1;

        if (takes_part(visit) && pair_of(visit)->largest < bytes)
            pair_of(visit)->largest = bytes;
    }
}

static void warm_up_pair(const struct mg_plan *plan, const struct mg_visit *visit, int64_t least_ns)
{
    MPI_Comm comm = mg_pair_begin(visit);

    mg_warm_up_group(plan, visit, pair_of(visit)->largest, comm, 2, least_ns);
    mg_pair_end(visit);
    pair_of(visit)->largest = 0;
}

/* In the order of the plan, which is the same on all ranks, so that there is no deadlock.  A
 * connection made later would disturb other pairs that measure. */
void mg_pairs_warm_up(const struct mg_plan *plan)
{
    const int64_t least_ns = plan->warmup_ns / (plan->ranks > 2 ? plan->ranks - 1 : 1);

    if (!plan->has_pairs)
        return;
    make_all(plan);
    find_largest(plan);
    for (int i = 0; i < plan->visits_count; i++) {
        const struct mg_visit *visit = &plan->visits[i];

        if (takes_part(visit) && pair_of(visit)->largest > 0)
            warm_up_pair(plan, visit, least_ns);
    }
    mg_idle_barrier();
}

void mg_pairs_free(void)
{
    if (world.pairs == NULL)
        return;
    for (int other = 0; other < world.ranks; other++)
        if (world.pairs[other].comm != MPI_COMM_NULL)
            MG_MPI(MPI_Comm_free(&world.pairs[other].comm));
    free(world.pairs);
    world.pairs = NULL;
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

static void write_offers(const struct mg_visit *visits, int count, const struct mg_offer *own,
                         int64_t start_ns)
{
    for (int i = 0; i < count; i++) {
        const struct mg_offer offer = offer_from(&visits[i], own);

        if (offer.skip[0] != '\0')
            mg_journal_skip(&visits[i], offer.skip);
        else
            mg_journal_begin(&visits[i], mg_since_ns(start_ns), offer.expect_ns);
    }
    mg_settle();
}

/* The other rank reports to its leader, and the leader's offer to rank 0 reports both. */
static void report_ready(const struct mg_visit *visit, const struct mg_offer *offer)
{
    if (!leads(visit)) {
        MG_MPI(MPI_Send(NULL, 0, MPI_BYTE, leader_of(visit), TAG_READY, world.control));
        return;
    }
    MG_MPI(
        MPI_Recv(NULL, 0, MPI_BYTE, visit->pair[1], TAG_READY, world.control, MPI_STATUS_IGNORE));
    if (world.rank != 0)
        MG_MPI(MPI_Send(offer, (int) sizeof *offer, MPI_BYTE, 0, TAG_OFFER, world.control));
}

/* Sends the time since the start of the launch, so that all ranks agree on it. */
static void send_start(const struct mg_visit *visits, int count, int64_t start_ns)
{
    const int64_t since_ns = mg_since_ns(start_ns);

    for (int i = 0; i < count; i++)
        for (int side = 0; side < 2; side++)
            if (visits[i].pair[side] != 0)
                MG_MPI(MPI_Send(&since_ns, 1, MPI_INT64_T, visits[i].pair[side], TAG_START,
                                world.control));
}

static void await_start(int64_t *start_ns_p)
{
    int64_t since_ns = 0;

    MG_MPI(MPI_Recv(&since_ns, 1, MPI_INT64_T, 0, TAG_START, world.control, MPI_STATUS_IGNORE));
    *start_ns_p = mg_now_ns() - since_ns;
}

const struct mg_visit *mg_step_begin(const struct mg_visit *visits, int count, mg_offer_fn offer_of,
                                     void *context, int64_t *start_ns_p)
{
    const struct mg_visit *own   = NULL;
    struct mg_offer        offer = {0};

    for (int i = 0; i < count && own == NULL; i++)
        if (mg_takes_part(&visits[i], world.rank))
            own = &visits[i];
    if (own != NULL && leads(own))
        offer = offer_of(context, own);
    if (own != NULL)
        report_ready(own, &offer);
    if (world.rank == 0) {
        write_offers(visits, count, &offer, *start_ns_p);
        send_start(visits, count, *start_ns_p);
    } else if (own != NULL) {
        await_start(start_ns_p);
    }
    return own;
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
    for (int i = 0; i < count; i++) {
        if (leader_of(&visits[i]) == 0)
            continue;
        if (world.rank == 0)
            receive_lines(leader_of(&visits[i]));
        else if (leads(&visits[i]))
            send_lines();
    }
}
