/* oversubscribed - whether the ranks of a visit have a processor each.
 *
 * How ranks are placed and bound is known only once they run.  Ranks 0, 1, ... of a machine are
 * matched to processors in their affinity masks until one gets none: a bipartite matching by
 * augmenting paths. */
#include "ranks/oversubscribed.h"

#include "ranks/abort.h"
#include "ranks/affinity.h"
#include "ranks/hosts.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static struct {
    int world;    /* ranks of the job */
    int here;     /* the first rank without a processor on this machine */
    int anywhere; /* and on any machine */
} fits = {.here = INT_MAX, .anywhere = INT_MAX};

/* The matching of one machine: every polling thread of a rank needs a processor. */
struct matching {
    const struct mg_cpus *allowed; /* affinity of each rank */
    int                   threads; /* per rank */
    int                  *cpu_of;  /* per thread; -1 = none yet */
    int                  *queue;
    int                   thread_on[MG_CPUS_MAX];  /* per processor; -1 = free */
    int                   reached_by[MG_CPUS_MAX]; /* thread of this search; -1 = none */
};

/* Every thread on the augmenting path moves to the next processor of it. */
static void shift_along(struct matching *matching, int cpu)
{
    while (cpu >= 0) {
        const int thread = matching->reached_by[cpu];
        const int left   = matching->cpu_of[thread];

        matching->cpu_of[thread] = cpu;
        matching->thread_on[cpu] = thread;
        cpu                      = left;
    }
}

/* Finds a processor for one more thread, moving others if that helps. */
static bool add_thread(struct matching *matching, int thread)
{
    int count = 0;

    memset(matching->reached_by, -1, sizeof matching->reached_by);
    matching->queue[count++] = thread;
    for (int i = 0; i < count; i++) {
        const struct mg_cpus *cpus = &matching->allowed[matching->queue[i] / matching->threads];

        for (int cpu = mg_cpus_next(cpus, 0); cpu >= 0; cpu = mg_cpus_next(cpus, cpu + 1)) {
            if (matching->reached_by[cpu] >= 0)
                continue;
            matching->reached_by[cpu] = matching->queue[i];
            if (matching->thread_on[cpu] < 0) {
                shift_along(matching, cpu);
                return true;
            }
            matching->queue[count++] = matching->thread_on[cpu];
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

/* The first rank without a processor, or how many there are.  A rank with unknown affinity counts
 * as one that has a processor. */
static int ranks_with_cpu(const struct mg_cpus *cpus, int ranks, int threads)
{
    const int        thread_count = ranks * threads;
    struct matching *matching     = array_of(1, sizeof *matching);
    int              first        = 0;

    matching->allowed = cpus;
    matching->threads = threads;
    matching->cpu_of  = array_of(thread_count, sizeof *matching->cpu_of);
    matching->queue   = array_of(thread_count + 1, sizeof *matching->queue);
    memset(matching->cpu_of, -1, (size_t) thread_count * sizeof *matching->cpu_of);
    memset(matching->thread_on, -1, sizeof matching->thread_on);
    while (first < thread_count &&
           (mg_cpus_next(&cpus[first / threads], 0) < 0 || add_thread(matching, first)))
        first++;
    free(matching->queue);
    free(matching->cpu_of);
    free(matching);
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

/* How many of the first ranks of this machine have a processor each. */
static int ranks_that_fit(MPI_Comm machine, int cores)
{
    const struct mg_cpus own     = mg_cpus_allowed();
    int                  threads = mg_polling_threads();
    int                  ranks   = 0;

    MG_MPI(MPI_Comm_size(machine, &ranks));
    struct mg_cpus *all = array_of(ranks, sizeof *all);
    MG_MPI(
        MPI_Allgather(&own, (int) sizeof own, MPI_BYTE, all, (int) sizeof own, MPI_BYTE, machine));
    MG_MPI(MPI_Allreduce(MPI_IN_PLACE, &threads, 1, MPI_INT, MPI_MAX, machine));
    const int fit = ranks_with_cpu(all, ranks, threads);
    free(all);
    return fit < cores ? fit : cores;
}

void mg_oversubscribed_find(int cores)
{
    const struct mg_hosts *hosts   = mg_hosts();
    MPI_Comm               machine = MPI_COMM_NULL;
    int                    placed  = 0;

    MG_MPI(MPI_Comm_split(MPI_COMM_WORLD, hosts->machine_of[hosts->rank], hosts->rank, &machine));
    const int fit = ranks_that_fit(machine, cores);
    MG_MPI(MPI_Comm_free(&machine));
    fits.world = hosts->ranks;
    fits.here  = INT_MAX;
    for (int rank = 0; rank < hosts->ranks && fits.here == INT_MAX; rank++)
        if (hosts->machine_of[rank] == hosts->machine_of[hosts->rank] && placed++ == fit)
            fits.here = rank;
    MG_MPI(MPI_Allreduce(&fits.here, &fits.anywhere, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
}

static int ranks_at_once(const struct mg_visit *visit)
{
    return mg_in_step(visit) ? fits.world : visit->ranks;
}

bool mg_oversubscribed_here(const struct mg_visit *visit)
{
    return ranks_at_once(visit) > fits.here;
}

bool mg_oversubscribed_anywhere(const struct mg_visit *visit)
{
    return ranks_at_once(visit) > fits.anywhere;
}
