/* groups - groups of ranks: communicators, the handshake between visits, and a barrier in which
 * ranks that do not take part sleep. */
#include "ranks/groups.h"

#include "ranks/abort.h"
#include "ranks/hosts.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    SLEEP_US    = 1000, /* between two checks of a rank that waits long */
    SPINS       = 200,  /* checks without sleep first: a short wait stays short */
    BCAST_BYTES = 1 << 30,
};

static struct {
    struct mg_group *group;
    int              count;
} groups;

MPI_Comm mg_comm_of_members(const int *ranks, int count)
{
    MPI_Group everybody = MPI_GROUP_NULL;
    MPI_Group members   = MPI_GROUP_NULL;
    MPI_Comm  comm      = MPI_COMM_NULL;

    MG_MPI(MPI_Comm_group(MPI_COMM_WORLD, &everybody));
    MG_MPI(MPI_Group_incl(everybody, count, ranks, &members));
    MG_MPI(MPI_Comm_create_group(MPI_COMM_WORLD, members, MG_TAG_CONTROL, &comm));
    MG_MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    MG_MPI(MPI_Group_free(&members));
    MG_MPI(MPI_Group_free(&everybody));
    return comm;
}

struct mg_group mg_group_of(int ranks)
{
    int rank = 0;

    for (int i = 0; i < groups.count; i++)
        if (groups.group[i].ranks == ranks)
            return groups.group[i];
    struct mg_group *more =
        realloc(groups.group, ((size_t) groups.count + 1) * sizeof *groups.group);
    if (more == NULL)
        MG_DIE("no memory for another group of ranks");
    groups.group           = more;
    struct mg_group *group = &groups.group[groups.count++];
    *group                 = (struct mg_group){.ranks = ranks, .comm = MPI_COMM_NULL};
    MG_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    MG_MPI(MPI_Comm_split(MPI_COMM_WORLD, rank < ranks ? 0 : MPI_UNDEFINED, rank, &group->comm));
    if (group->comm != MPI_COMM_NULL)
        MG_MPI(MPI_Comm_set_errhandler(group->comm, MPI_ERRORS_RETURN));
    return *group;
}

void mg_groups_free(void)
{
    while (groups.count > 0) {
        struct mg_group *group = &groups.group[--groups.count];

        if (group->comm != MPI_COMM_NULL)
            MG_MPI(MPI_Comm_free(&group->comm));
    }
    free(groups.group);
    groups.group = NULL;
}

void mg_handshake(MPI_Comm comm)
{
    int rank  = 0;
    int ranks = 0;

    MG_MPI(MPI_Comm_rank(comm, &rank));
    MG_MPI(MPI_Comm_size(comm, &ranks));
    for (int distance = 1; distance < ranks; distance *= 2)
        MG_MPI(MPI_Sendrecv(NULL, 0, MPI_BYTE, (rank + distance) % ranks, MG_TAG_CONTROL, NULL, 0,
                            MPI_BYTE, (rank + ranks - distance) % ranks, MG_TAG_CONTROL, comm,
                            MPI_STATUS_IGNORE));
}

void mg_idle_barrier(void)
{
    mg_idle_barrier_polling(NULL);
}

static void wait_idle(int count, MPI_Request *requests, void (*poll)(void))
{
    int arrived = 0;

    for (int i = 0; !arrived; i++) {
        if (i > SPINS)
            (void) usleep(SLEEP_US);
        if (poll != NULL)
            poll();
        MG_MPI(MPI_Testall(count, requests, &arrived, MPI_STATUSES_IGNORE));
    }
}

static void signal_rank(int rank)
{
    MG_MPI(MPI_Send(NULL, 0, MPI_BYTE, rank, MG_TAG_IDLE, MPI_COMM_WORLD));
}

/* The caller waits in wait_idle(), which the checker of clang-tidy does not see.
 * NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker) */
static MPI_Request await_rank(int rank)
{
    MPI_Request request = MPI_REQUEST_NULL;

    MG_MPI(MPI_Irecv(NULL, 0, MPI_BYTE, rank, MG_TAG_IDLE, MPI_COMM_WORLD, &request));
    return request;
}
/* NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker) */

/* Up a tree of two levels and down again: ranks that check once a millisecond delay it by four
 * milliseconds at most, however many there are.  MPI_Barrier usually has a step for every doubling
 * of the ranks, and each could take a millisecond. */
void mg_idle_barrier_polling(void (*poll)(void))
{
    const struct mg_hosts *hosts = mg_hosts();
    MPI_Request           *requests =
        (MPI_Request *) calloc((size_t) hosts->children_count + 1, sizeof *requests);

    if (requests == NULL)
        MG_DIE("no memory to wait for %d ranks", hosts->children_count);
    for (int i = 0; i < hosts->children_count; i++)
        requests[i] = await_rank(hosts->children[i]);
    wait_idle(hosts->children_count, requests, poll);
    if (hosts->parent >= 0) {
        requests[0] = await_rank(hosts->parent);
        signal_rank(hosts->parent);
        wait_idle(1, requests, poll);
    }
    for (int i = 0; i < hosts->children_count; i++)
        signal_rank(hosts->children[i]);
    free((void *) requests);
}

void mg_broadcast(MPI_Comm comm, void *data, size_t bytes)
{
    unsigned char *at = data;

    while (bytes > 0) {
        const size_t part = bytes < BCAST_BYTES ? bytes : BCAST_BYTES;

        MG_MPI(MPI_Bcast(at, (int) part, MPI_BYTE, 0, comm));
        at += part;
        bytes -= part;
    }
}

bool mg_all_true(MPI_Comm comm, bool here)
{
    int everywhere = here;

    MG_MPI(MPI_Allreduce(MPI_IN_PLACE, &everywhere, 1, MPI_INT, MPI_LAND, comm));
    return everywhere;
}
