/* neighbours - times of a cache line between neighbouring ranks of a host, and of an empty message
 * to another host.
 *
 * On machines with several last-level caches the time depends on where the line lives.  So every
 * rank has touched pages of its own first, and a pair uses lines of both. */
#include "machine/neighbours.h"

#include "clock/clock.h"
#include "clock/tree.h"
#include "memory/granularity.h"
#include "memory/shared_memory.h"
#include "ranks/abort.h"
#include "ranks/groups.h"
#include "ranks/oversubscribed.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    PAGES       = 4, /* per rank: two for the next rank, two for the one before */
    LINES       = 4, /* per pair: two of each rank */
    BLOCKS      = 4,
    TRIPS       = 8,     /* round trips per block */
    CLOCK_SPINS = 1024,  /* polls of a line per reading of the clock */
    SPINS_MAX   = 20000, /* polls; then yield, the other rank may need this core */
    MISSES_MAX  = 3,     /* pairs that took too long; then it is not measured any more */
    TURNS       = 3,     /* even pairs of a ring, odd ones, and the last of an odd ring */
    PATH_TRIPS  = 8,
};

static const int64_t line_timeout_ns = 5000000;
static const int64_t path_timeout_ns = 1000000;

static struct {
    struct mg_world world;
    unsigned char  *pages; /* of all ranks of this host, in order; NULL if memory is not shared */
    size_t          bytes;
    size_t          page_bytes;
    int             sharing; /* ranks of the world on this host */
    int             misses;
    int64_t         clock_cost_ns;
} own;

/* ---- Who is where ---------------------------------------------------------------------------- */

static int host_of(const struct mg_visit *visit, int rank)
{
    return own.world.leader_of[mg_world_rank(visit, rank)];
}

/* The index of a world rank among those of its host. */
static int place_of(int rank)
{
    int place = 0;

    for (int other = 0; other < rank; other++)
        place += own.world.leader_of[other] == own.world.leader_of[rank];
    return place;
}

int mg_far_rank(const struct mg_visit *visit, const struct mg_state *state)
{
    for (int rank = 1; rank < state->ranks; rank++)
        if (host_of(visit, rank) != host_of(visit, 0))
            return rank;
    return -1;
}

bool mg_speaks_for_host(const struct mg_visit *visit, const struct mg_state *state)
{
    for (int rank = 0; rank < state->rank; rank++)
        if (host_of(visit, rank) == host_of(visit, state->rank))
            return false;
    return true;
}

/* The ranks of the group on this host as a ring: how many, the index of this one, and the world
 * ranks of the next and the one before. */
struct ring {
    int count;
    int place;
    int next;
    int before;
};

static struct ring ring_of(const struct mg_visit *visit, const struct mg_state *state)
{
    const int   here  = host_of(visit, state->rank);
    struct ring ring  = {.next = -1, .before = -1};
    int         first = -1, last = -1;

    for (int rank = 0; rank < state->ranks; rank++) {
        if (host_of(visit, rank) != here)
            continue;
        const int which = mg_world_rank(visit, rank);

        first       = first < 0 ? which : first;
        last        = which;
        ring.before = rank < state->rank ? which : ring.before;
        ring.next   = rank > state->rank && ring.next < 0 ? which : ring.next;
        ring.place += rank < state->rank;
        ring.count++;
    }
    ring.next   = ring.next < 0 ? first : ring.next;
    ring.before = ring.before < 0 ? last : ring.before;
    return ring;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static unsigned char *pages_of(int rank)
{
    return own.pages + (size_t) place_of(rank) * PAGES * own.page_bytes;
}

/* Line i between a rank of the world and the next. */
static uint64_t *line_between(int rank, int next, int i)
{
    const int    owner = i % 2 == 0 ? rank : next;
    const size_t page  = (size_t) (i % 2 == 0 ? i / 2 : PAGES / 2 + i / 2);

    return (uint64_t *) (void *) (pages_of(owner) + page * own.page_bytes);
}

static void touch_own_pages(void)
{
    memset(pages_of(own.world.rank), 0, (size_t) PAGES * own.page_bytes);
}

static void clear_own_lines(void)
{
    for (size_t page = 0; page < PAGES; page++)
        memset(pages_of(own.world.rank) + page * own.page_bytes, 0, sizeof(uint64_t));
}

void mg_neighbours_make(int64_t clock_cost_ns)
{
    MPI_Comm host = MPI_COMM_NULL;

    own.world         = mg_world_by_host();
    own.clock_cost_ns = clock_cost_ns;
    own.page_bytes    = mg_page_bytes();
    MG_MPI(
        MPI_Comm_split(MPI_COMM_WORLD, own.world.leader_of[own.world.rank], own.world.rank, &host));
    MG_MPI(MPI_Comm_size(host, &own.sharing));
    own.bytes = (size_t) own.sharing * PAGES * own.page_bytes;
    if (own.sharing > 1)
        own.pages = mg_shared_map(host, own.bytes, NULL);
    if (own.pages != NULL)
        touch_own_pages();
    MG_MPI(MPI_Comm_free(&host));
}

void mg_neighbours_free(void)
{
    if (own.pages != NULL)
        (void) munmap(own.pages, own.bytes);
    own.pages = NULL;
    mg_world_free(&own.world);
}

/* ---- A line from core to core ---------------------------------------------------------------- */

static bool has_arrived(const uint64_t *line, uint64_t value, int64_t end_ns)
{
    for (int polls = 1; __atomic_load_n(line, __ATOMIC_ACQUIRE) != value; polls++) {
        if (polls % CLOCK_SPINS == 0 && mg_now_ns() > end_ns)
            return false;
        if (polls > SPINS_MAX)
            (void) sched_yield();
    }
    return true;
}

/* Some round trips; false if the other rank takes too long. */
static bool lead_trips(uint64_t *line, uint64_t *value_p, int trips, int64_t end_ns)
{
    for (int trip = 0; trip < trips; trip++) {
        __atomic_store_n(line, *value_p + 1, __ATOMIC_RELEASE);
        *value_p += 2;
        if (!has_arrived(line, *value_p, end_ns))
            return false;
    }
    return true;
}

static bool follow_trips(uint64_t *line, int trips, int64_t end_ns)
{
    uint64_t value = 0;

    for (int trip = 0; trip < trips; trip++) {
        if (!has_arrived(line, value + 1, end_ns))
            return false;
        value += 2;
        __atomic_store_n(line, value, __ATOMIC_RELEASE);
    }
    return true;
}

/* One-way time of a line, after a first trip that waits for the other rank; NaN if that takes too
 * long. */
static double time_line(uint64_t *line, int64_t end_ns)
{
    uint64_t value = 0;
    double   least = NAN;

    if (!lead_trips(line, &value, 1, end_ns))
        return NAN;
    for (int block = 0; block < BLOCKS; block++) {
        const int64_t begin_ns = mg_now_ns();
        if (!lead_trips(line, &value, TRIPS, end_ns))
            return NAN;
        const int64_t time_ns = mg_now_ns() - begin_ns - own.clock_cost_ns;

        least = fmin(least, (double) (time_ns > 0 ? time_ns : 0) / (2.0 * TRIPS));
    }
    return least;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *) a;
    const double y = *(const double *) b;

    return (x > y) - (x < y);
}

static double lead(int next)
{
    const int64_t end_ns = mg_now_ns() + line_timeout_ns;
    double        times_ns[LINES];

    for (int i = 0; i < LINES; i++) {
        times_ns[i] = time_line(line_between(own.world.rank, next, i), end_ns);
        if (isnan(times_ns[i]))
            return NAN;
    }
    qsort(times_ns, LINES, sizeof *times_ns, by_value);
    return (times_ns[LINES / 2 - 1] + times_ns[LINES / 2]) / 2;
}

static bool follow(int before)
{
    const int64_t end_ns = mg_now_ns() + line_timeout_ns;

    for (int i = 0; i < LINES; i++)
        if (!follow_trips(line_between(before, own.world.rank, i), 1 + BLOCKS * TRIPS, end_ns))
            return false;
    return true;
}

/* The turn in which a rank and the next one are timed, such that no rank is in two pairs at a time;
 * -1 for the second of two ranks. */
static int turn_of(const struct ring *ring, int place)
{
    if (ring->count == 2)
        return place == 0 ? 0 : -1;
    return ring->count % 2 == 1 && place == ring->count - 1 ? TURNS - 1 : place % 2;
}

static double time_ring(const struct ring *ring)
{
    const int place_before = (ring->place + ring->count - 1) % ring->count;
    double    line_ns      = NAN;

    for (int turn = 0; turn < TURNS; turn++) {
        if (turn_of(ring, ring->place) == turn) {
            line_ns = lead(ring->next);
            own.misses += isnan(line_ns);
        } else if (turn_of(ring, place_before) == turn) {
            own.misses += !follow(ring->before);
        }
    }
    return line_ns;
}

double mg_line_ns(const struct mg_visit *visit, const struct mg_state *state)
{
    const struct ring ring = ring_of(visit, state);

    if (state->ranks < 2)
        return NAN;
    if (own.pages != NULL)
        clear_own_lines();
    if (!mg_all_true(state->comm, own.misses < MISSES_MAX))
        return NAN;
    if (ring.count < 2 || own.pages == NULL || mg_oversubscribed_here(visit))
        return NAN;
    return time_ring(&ring);
}

/* ---- The path to another host ---------------------------------------------------------------- */

/* Times round trips of empty messages; a message of one byte ends them. */
static double time_path(const struct mg_state *state, int far)
{
    const unsigned char stop     = 1;
    const int64_t       begin_ns = mg_now_ns();
    int64_t             least_ns = INT64_MAX;

    for (int trip = 0; trip < PATH_TRIPS && mg_now_ns() - begin_ns < path_timeout_ns; trip++) {
        const int64_t sent_ns = mg_now_ns();
        MG_MPI(MPI_Send(NULL, 0, MPI_BYTE, far, MG_TAG_CONTROL, state->comm));
        MG_MPI(MPI_Recv(NULL, 0, MPI_BYTE, far, MG_TAG_CONTROL, state->comm, MPI_STATUS_IGNORE));
        const int64_t trip_ns = mg_now_ns() - sent_ns;

        if (trip_ns >= 0 && trip_ns < least_ns)
            least_ns = trip_ns;
    }
    MG_MPI(MPI_Send(&stop, 1, MPI_BYTE, far, MG_TAG_CONTROL, state->comm));
    return least_ns < INT64_MAX ? (double) least_ns / 2 : 0;
}

static void answer(const struct mg_state *state)
{
    unsigned char byte = 0;

    for (;;) {
        MPI_Status status;
        int        bytes = 0;

        MG_MPI(MPI_Recv(&byte, 1, MPI_BYTE, 0, MG_TAG_CONTROL, state->comm, &status));
        MG_MPI(MPI_Get_count(&status, MPI_BYTE, &bytes));
        if (bytes > 0)
            return;
        MG_MPI(MPI_Send(NULL, 0, MPI_BYTE, 0, MG_TAG_CONTROL, state->comm));
    }
}

double mg_path_ns(const struct mg_visit *visit, const struct mg_state *state)
{
    const int far = mg_far_rank(visit, state);

    if (far > 0 && state->rank == 0)
        return time_path(state, far);
    if (state->rank == far)
        answer(state);
    return NAN;
}
