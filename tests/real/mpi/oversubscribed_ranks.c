/* oversubscribed_ranks - how many of a job's first ranks have a processor each on the machine of
 * one of them: oversubscribed_ranks RANK CORES MACHINE:CPU,CPU... MACHINE:CPU...
 *
 * Every rank has a host name of its own, as on emulated hosts and in containers.
 * A place for each rank.  Prints for 1, 2, ... ranks whether they are crowded there. */
#include "ranks/affinity.h"
#include "ranks/hosts.h"
#include "ranks/oversubscribed.h"

#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS_MAX = 64 };

static struct {
    int             ranks;
    int             rank;
    int             machines[RANKS_MAX];
    int             firsts[RANKS_MAX]; /* of each rank's machine */
    int             hosts[RANKS_MAX];
    struct mg_cpus  cpus[RANKS_MAX];
    struct mg_hosts told;
} job;

static int here(int rank)
{
    return job.machines[rank] == job.machines[job.rank];
}

const struct mg_hosts *mg_hosts(void)
{
    job.told = (struct mg_hosts){.rank       = job.rank,
                                 .ranks      = job.ranks,
                                 .leader_of  = job.hosts,
                                 .machine_of = job.firsts,
                                 .parent     = -1};
    return &job.told;
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *made)
{
    (void) color;
    (void) key;
    *made = comm;
    return MPI_SUCCESS;
}

int MPI_Comm_free(MPI_Comm *comm)
{
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

int MPI_Comm_size(MPI_Comm comm, int *size)
{
    (void) comm;
    *size = 0;
    for (int rank = 0; rank < job.ranks; rank++)
        *size += here(rank);
    return MPI_SUCCESS;
}

/* Of the ranks of this machine. */
int MPI_Allgather(const void *own, int count, MPI_Datatype type, void *all, int all_count,
                  MPI_Datatype all_type, MPI_Comm comm)
{
    unsigned char *at = all;

    (void) own;
    (void) type;
    (void) all_count;
    (void) all_type;
    (void) comm;
    for (int rank = 0; rank < job.ranks; rank++)
        if (here(rank)) {
            memcpy(at, &job.cpus[rank], (size_t) count);
            at += count;
        }
    return MPI_SUCCESS;
}

int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm)
{
    (void) type;
    (void) op;
    (void) comm;
    if (from != MPI_IN_PLACE)
        memcpy(to, from, (size_t) count * sizeof(int));
    return MPI_SUCCESS;
}

static void place(int rank, char *text)
{
    char *rest = NULL;

    job.machines[rank] = (int) strtol(text, &rest, 10);
    for (char *word = strtok(rest + 1, ","); word != NULL; word = strtok(NULL, ",")) {
        const long cpu = strtol(word, NULL, 10);

        job.cpus[rank].words[cpu / 64] |= UINT64_C(1) << (cpu % 64);
    }
    job.hosts[rank] = job.firsts[rank] = rank;
    for (int other = rank; other >= 0; other--)
        if (job.machines[other] == job.machines[rank])
            job.firsts[rank] = other;
}

int main(int argc, char **argv)
{
    if (argc < 4 || argc - 3 > RANKS_MAX)
        return EXIT_FAILURE;
    job.rank  = (int) strtol(argv[1], NULL, 10);
    job.ranks = argc - 3;
    for (int rank = 0; rank < job.ranks; rank++)
        place(rank, argv[3 + rank]);
    mg_oversubscribed_find((int) strtol(argv[2], NULL, 10));
    for (int ranks = 1; ranks <= job.ranks; ranks++) {
        const struct mg_visit visit = {.ranks = ranks, .step = -1};

        (void) putchar(mg_oversubscribed_here(&visit) ? '1' : '0');
    }
    const struct mg_visit pair = {.ranks = 2, .step = 0};
    (void) puts(mg_oversubscribed_here(&pair) ? "1" : "0");
    return EXIT_SUCCESS;
}
