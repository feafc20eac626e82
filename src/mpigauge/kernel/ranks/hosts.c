/* hosts - which ranks share a host.
 *
 * Ranks exchange hashes of host names, 8 bytes each instead of 256.  With a million hosts, two
 * hashes agree by chance in fewer than one job of ten million, and then the check of the clocks
 * finds it. */
#include "ranks/hosts.h"

#include "ranks/abort.h"
#include "text/small_file.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BOOT_BYTES = 64 };

static struct mg_hosts hosts;

struct place {
    uint64_t host;
    int      rank;
};

/* FNV-1a: Fowler, Noll and Vo. */
static uint64_t hash_of(const char *name, int length)
{
    uint64_t hash = UINT64_C(14695981039346656037);

    for (int i = 0; i < length; i++)
        hash = (hash ^ (unsigned char) name[i]) * UINT64_C(1099511628211);
    return hash;
}

static uint64_t this_host(void)
{
    char name[MPI_MAX_PROCESSOR_NAME];
    int  length = 0;

    MG_MPI(MPI_Get_processor_name(name, &length));
    return hash_of(name, length);
}

/* Where no boot id can be read, a machine is a host. */
static uint64_t this_machine(void)
{
    char boot[BOOT_BYTES] = "";

    mg_small_file_line("/proc/sys/kernel/random", "boot_id", boot, sizeof boot);
    return boot[0] != '\0' ? hash_of(boot, (int) strlen(boot)) : this_host();
}

static int by_host(const void *one_p, const void *other_p)
{
    const struct place *one   = one_p;
    const struct place *other = other_p;

    if (one->host != other->host)
        return one->host < other->host ? -1 : 1;
    return one->rank < other->rank ? -1 : 1;
}

static void *array_of(int count, size_t bytes)
{
    void *array = calloc((size_t) count, bytes);

    if (array == NULL)
        MG_DIE("no memory for the hosts of %d ranks", count);
    return array;
}

/* Of every rank, the lowest rank of the same host or machine. */
static void find_leaders(uint64_t here, int *leader_of)
{
    uint64_t     *all    = array_of(hosts.ranks, sizeof *all);
    struct place *places = array_of(hosts.ranks, sizeof *places);
    int           leader = 0;

    MG_MPI(MPI_Allgather(&here, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, MPI_COMM_WORLD));
    for (int rank = 0; rank < hosts.ranks; rank++)
        places[rank] = (struct place){.host = all[rank], .rank = rank};
    qsort(places, (size_t) hosts.ranks, sizeof *places, by_host);
    for (int i = 0; i < hosts.ranks; i++) {
        if (i == 0 || places[i].host != places[i - 1].host)
            leader = places[i].rank;
        leader_of[places[i].rank] = leader;
    }
    free(all);
    free(places);
}

static bool is_child(int rank)
{
    const int leader = hosts.leader_of[rank];

    if (rank == hosts.rank)
        return false;
    return leader == rank ? hosts.rank == 0 : leader == hosts.rank;
}

static void find_tree(void)
{
    const int leader = hosts.leader_of[hosts.rank];

    hosts.parent = leader != hosts.rank ? leader : hosts.rank == 0 ? -1 : 0;
    for (int rank = 0; rank < hosts.ranks; rank++)
        if (is_child(rank))
            hosts.children[hosts.children_count++] = rank;
}

const struct mg_hosts *mg_hosts(void)
{
    if (hosts.leader_of != NULL)
        return &hosts;
    MG_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &hosts.rank));
    MG_MPI(MPI_Comm_size(MPI_COMM_WORLD, &hosts.ranks));
    hosts.leader_of  = array_of(hosts.ranks, sizeof *hosts.leader_of);
    hosts.machine_of = array_of(hosts.ranks, sizeof *hosts.machine_of);
    hosts.children   = array_of(hosts.ranks, sizeof *hosts.children);
    find_leaders(this_host(), hosts.leader_of);
    find_leaders(this_machine(), hosts.machine_of);
    find_tree();
    return &hosts;
}

void mg_hosts_free(void)
{
    free(hosts.leader_of);
    free(hosts.machine_of);
    free(hosts.children);
    hosts = (struct mg_hosts){0};
}
