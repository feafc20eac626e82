/* crowding - whether the ranks of a visit have processors of their own.
 *
 * Whoever started the job knows how many ranks there are and hopes where they are; how they are
 * bound is known here alone.  Ranks 0, 1, ... of a host are given a processor each, out of those
 * that they may run on, until one is left without: a bipartite matching, by augmenting paths. */
#include "ranks/crowding.h"

#include "ranks/abort.h"
#include "ranks/affinity.h"
#include "ranks/hosts.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static struct {
    int world;    /* ranks of the job */
    int here;     /* so many of its first ranks have a processor each on this host */
    int anywhere; /* and on every host */
} fits = {.here = INT_MAX, .anywhere = INT_MAX};

/* One host.  Takers are the ranks, or their threads: each needs a processor. */
struct seats {
    const struct mg_cpus *cpus;    /* of each rank */
    int                   threads; /* takers that a rank is */
    int                  *seat;    /* of each taker; -1 = none yet */
    int                  *queue;
    int                   taker[MG_CPUS_MOST];   /* of each processor; -1 = free */
    int                   reached[MG_CPUS_MOST]; /* by which taker in this search; -1 = not */
};

/* Whoever had a processor of the path moves on to the next one of it. */
static void move_along(struct seats *seats, int cpu)
{
    while (cpu >= 0) {
        const int taker = seats->reached[cpu];
        const int left  = seats->seat[taker];

        seats->seat[taker] = cpu;
        seats->taker[cpu]  = taker;
        cpu                = left;
    }
}

/* A processor for one more, moving others if that helps. */
static bool sit_down(struct seats *seats, int newcomer)
{
    int count = 0;

    memset(seats->reached, -1, sizeof seats->reached);
    seats->queue[count++] = newcomer;
    for (int i = 0; i < count; i++) {
        const struct mg_cpus *cpus = &seats->cpus[seats->queue[i] / seats->threads];

        for (int cpu = mg_cpus_next(cpus, 0); cpu >= 0; cpu = mg_cpus_next(cpus, cpu + 1)) {
            if (seats->reached[cpu] >= 0)
                continue;
            seats->reached[cpu] = seats->queue[i];
            if (seats->taker[cpu] < 0) {
                move_along(seats, cpu);
                return true;
            }
            seats->queue[count++] = seats->taker[cpu];
        }
    }
    return false;
}

static void *array_of(int count, size_t bytes)
{
    void *array = calloc((size_t) count, bytes);

    if (array == NULL)
        MG_DIE("no memory for the processors of %d ranks", count);
    return array;
}

/* How many ranks sit before the first who cannot; one whose processors nobody knows, always. */
static int seated(const struct mg_cpus *cpus, int ranks, int threads)
{
    const int     takers = ranks * threads;
    struct seats *seats  = array_of(1, sizeof *seats);
    int           first  = 0;

    seats->cpus    = cpus;
    seats->threads = threads;
    seats->seat    = array_of(takers, sizeof *seats->seat);
    seats->queue   = array_of(takers + 1, sizeof *seats->queue);
    memset(seats->seat, -1, (size_t) takers * sizeof *seats->seat);
    memset(seats->taker, -1, sizeof seats->taker);
    while (first < takers &&
           (mg_cpus_next(&cpus[first / threads], 0) < 0 || sit_down(seats, first)))
        first++;
    free(seats->queue);
    free(seats->seat);
    free(seats);
    return first / threads;
}

int mg_polling_threads(void)
{
    static const char *const names[] = {"MPIR_CVAR_ASYNC_PROGRESS", "MPICH_ASYNC_PROGRESS",
                                        "I_MPI_ASYNC_PROGRESS"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);

        if (value != NULL && value[0] != '\0' && strchr("0nNfF", value[0]) == NULL &&
            strcmp(value, "off") != 0)
            return 2;
    }
    return 1;
}

/* How many ranks of this host have a processor each. */
static int fitting(MPI_Comm host, int cores)
{
    const struct mg_cpus own     = mg_cpus_allowed();
    int                  threads = mg_polling_threads();
    int                  ranks   = 0;

    MG_MPI(MPI_Comm_size(host, &ranks));
    struct mg_cpus *all = array_of(ranks, sizeof *all);
    MG_MPI(MPI_Allgather(&own, (int) sizeof own, MPI_BYTE, all, (int) sizeof own, MPI_BYTE, host));
    MG_MPI(MPI_Allreduce(MPI_IN_PLACE, &threads, 1, MPI_INT, MPI_MAX, host));
    const int sit = seated(all, ranks, threads);
    free(all);
    return sit < cores ? sit : cores;
}

void mg_crowding_find(int cores)
{
    const struct mg_hosts *hosts  = mg_hosts();
    MPI_Comm               host   = MPI_COMM_NULL;
    int                    placed = 0;

    MG_MPI(MPI_Comm_split(MPI_COMM_WORLD, hosts->leader_of[hosts->rank], hosts->rank, &host));
    const int fit = fitting(host, cores);
    MG_MPI(MPI_Comm_free(&host));
    fits.world = hosts->ranks;
    fits.here  = INT_MAX;
    for (int rank = 0; rank < hosts->ranks && fits.here == INT_MAX; rank++)
        if (hosts->leader_of[rank] == hosts->leader_of[hosts->rank] && placed++ == fit)
            fits.here = rank;
    MG_MPI(MPI_Allreduce(&fits.here, &fits.anywhere, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
}

static int ranks_beside(const struct mg_visit *visit)
{
    return mg_is_pair(visit) ? fits.world : visit->ranks;
}

bool mg_crowded_here(const struct mg_visit *visit)
{
    return ranks_beside(visit) > fits.here;
}

bool mg_crowded_anywhere(const struct mg_visit *visit)
{
    return ranks_beside(visit) > fits.anywhere;
}
