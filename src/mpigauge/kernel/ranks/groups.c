/* groups - ranks together: communicators, the handshake between visits, and sleep for those left
 * out.
 */
#include "ranks/groups.h"

#include "ranks/abort.h"
#include "ranks/hosts.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    MAX_GROUPS  = 64,
    NAP_US      = 1000, /* between two looks of a resting rank */
    SPIN_LOOKS  = 200,  /* looks without sleep first: a short wait stays short */
    SHARE_BYTES = 1 << 30,
};

static struct {
    struct mg_group group[MAX_GROUPS];
    int             count;
} groups;

struct mg_group mg_group_of(int ranks)
{
    int rank = 0;

    for (int i = 0; i < groups.count; i++)
        if (groups.group[i].ranks == ranks)
            return groups.group[i];
    if (groups.count == MAX_GROUPS)
        MG_DIE("the plan has more than %d different numbers of ranks", MAX_GROUPS);

    struct mg_group *group = &groups.group[groups.count++];
    group->ranks           = ranks;
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

void mg_rest_until_all(void)
{
    mg_rest_until_all_but(NULL);
}

static void rest(int count, MPI_Request *requests, void (*meanwhile)(void))
{
    int arrived = 0;

    for (int look = 0; !arrived; look++) {
        if (look > SPIN_LOOKS)
            (void) usleep(NAP_US);
        if (meanwhile != NULL)
            meanwhile();
        MG_MPI(MPI_Testall(count, requests, &arrived, MPI_STATUSES_IGNORE));
    }
}

static void tell(int rank)
{
    MG_MPI(MPI_Send(NULL, 0, MPI_BYTE, rank, MG_TAG_REST, MPI_COMM_WORLD));
}

/* The caller waits in rest(), which the checker of clang-tidy does not see.
 * NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker) */
static MPI_Request hear(int rank)
{
    MPI_Request request = MPI_REQUEST_NULL;

    MG_MPI(MPI_Irecv(NULL, 0, MPI_BYTE, rank, MG_TAG_REST, MPI_COMM_WORLD, &request));
    return request;
}
/* NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker) */

/* Up a tree of hosts and down again: a rank that looks once a millisecond then costs its
 * millisecond four times at most, however many there are.  A barrier of the library has a step for
 * every doubling of the ranks, and in each of them all wait for the one that looks last. */
void mg_rest_until_all_but(void (*meanwhile)(void))
{
    const struct mg_hosts *hosts = mg_hosts();
    MPI_Request           *requests =
        (MPI_Request *) calloc((size_t) hosts->children_count + 1, sizeof *requests);

    if (requests == NULL)
        MG_DIE("no memory to wait for %d ranks", hosts->children_count);
    for (int i = 0; i < hosts->children_count; i++)
        requests[i] = hear(hosts->children[i]);
    rest(hosts->children_count, requests, meanwhile);
    if (hosts->parent >= 0) {
        requests[0] = hear(hosts->parent);
        tell(hosts->parent);
        rest(1, requests, meanwhile);
    }
    for (int i = 0; i < hosts->children_count; i++)
        tell(hosts->children[i]);
    free((void *) requests);
}

void mg_share(MPI_Comm comm, void *data, size_t bytes)
{
    unsigned char *at = data;

    while (bytes > 0) {
        const size_t part = bytes < SHARE_BYTES ? bytes : SHARE_BYTES;

        MG_MPI(MPI_Bcast(at, (int) part, MPI_BYTE, 0, comm));
        at += part;
        bytes -= part;
    }
}

bool mg_all(MPI_Comm comm, bool here)
{
    int everywhere = here;

    MG_MPI(MPI_Allreduce(MPI_IN_PLACE, &everywhere, 1, MPI_INT, MPI_LAND, comm));
    return everywhere;
}
