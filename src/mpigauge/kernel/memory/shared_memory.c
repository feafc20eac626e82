/* shared_memory - memory that all ranks of a group share, for patterns that bound messages from
 * below.
 *
 * Rank 0 makes a file without a name, and the others open it through /proc by process and
 * descriptor. On another host, or in another container, that may be a file of somebody else: so
 * nothing is opened for writing before it is known to be this one. */
#include "memory/shared_memory.h"

#include "clock/clock.h"
#include "ranks/abort.h"
#include "ranks/groups.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 64, BOOT_BYTES = 40 };

static struct {
    unsigned char *data;
    size_t         bytes;
    MPI_Comm       with;
} shared = {.with = MPI_COMM_NULL};

/* How the other ranks find and recognise the file of rank 0. */
struct file_id {
    char  path[PATH_BYTES];
    char  boot[BOOT_BYTES]; /* boot id: unique per host */
    dev_t device;
    ino_t inode;
    off_t bytes;
};

static void read_boot(char *text, size_t bytes)
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");

    if (file == NULL)
        return;
    if (fgets(text, (int) bytes, file) == NULL)
        text[0] = '\0';
    (void) fclose(file);
}

/* A file without a name: nothing can be left behind. */
static int own_file(size_t bytes)
{
    const int file = memfd_create("mpigauge", MFD_CLOEXEC);

    if (file >= 0 && ftruncate(file, (off_t) bytes) == 0)
        return file;
    if (file >= 0)
        (void) close(file);
    return -1;
}

static struct file_id file_id_of(int file)
{
    struct file_id id;
    struct stat    facts;

    memset(&id, 0, sizeof id);
    if (file < 0 || fstat(file, &facts) != 0)
        return id;
    (void) snprintf(id.path, sizeof id.path, "/proc/%ld/fd/%d", (long) getpid(), file);
    read_boot(id.boot, sizeof id.boot);
    id.device = facts.st_dev;
    id.inode  = facts.st_ino;
    id.bytes  = facts.st_size;
    return id;
}

static bool is_same_file(const struct file_id *id, int place)
{
    char        boot[BOOT_BYTES] = {0};
    struct stat facts;

    read_boot(boot, sizeof boot);
    return strcmp(boot, id->boot) == 0 && fstat(place, &facts) == 0 && S_ISREG(facts.st_mode) &&
           facts.st_dev == id->device && facts.st_ino == id->inode && facts.st_size == id->bytes;
}

/* O_PATH does not open the file itself, so this has no effect on whatever it is. */
static int open_same(const struct file_id *id)
{
    char      path[PATH_BYTES];
    int       file  = -1;
    const int place = open(id->path, O_PATH | O_CLOEXEC);

    if (place < 0)
        return -1;
    if (is_same_file(id, place)) {
        (void) snprintf(path, sizeof path, "/proc/self/fd/%d", place);
        file = open(path, O_RDWR | O_CLOEXEC);
    }
    (void) close(place);
    return file;
}

/* Finally, whether all ranks read there what rank 0 has written. */
static bool is_the_same(MPI_Comm comm, int rank, unsigned char *data)
{
    uint64_t word  = (uint64_t) mg_now_ns();
    uint64_t found = 0;

    mg_broadcast(comm, &word, sizeof word);
    if (rank == 0)
        memcpy(data, &word, sizeof word);
    mg_handshake(comm);
    memcpy(&found, data, sizeof found);
    const bool same = mg_all_true(comm, found == word);
    if (same && rank == 0)
        memset(data, 0, sizeof word);
    return same;
}

static void *mapping_of(const struct file_id *id, enum mg_unshared *why_p)
{
    void     *data = MAP_FAILED;
    const int file = open_same(id);

    if (file >= 0)
        data = mmap(NULL, (size_t) id->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t) 0);
    if (data != MAP_FAILED)
        *why_p = MG_SHARED;
    else if (id->bytes == 0)
        *why_p = MG_UNSHARED_NO_FILE;
    else
        *why_p = file >= 0 ? MG_UNSHARED_NO_ROOM : MG_UNSHARED_OTHER_HOST;
    if (file >= 0)
        (void) close(file);
    return data == MAP_FAILED ? NULL : data;
}

/* The last of the list that is true of any rank. */
static enum mg_unshared worst_of(MPI_Comm comm, enum mg_unshared here)
{
    int worst = here;

    MG_MPI(MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, comm));
    return (enum mg_unshared) worst;
}

void *mg_shared_map(MPI_Comm comm, size_t bytes, enum mg_unshared *why_p)
{
    int              rank = 0;
    enum mg_unshared why  = MG_SHARED;

    MG_MPI(MPI_Comm_rank(comm, &rank));
    const int      own = rank == 0 ? own_file(bytes) : -1;
    struct file_id id  = file_id_of(own);
    mg_broadcast(comm, &id, sizeof id);
    void *data = mapping_of(&id, &why);

    why = worst_of(comm, why);
    if (why == MG_SHARED && !is_the_same(comm, rank, data))
        why = MG_UNSHARED_OTHER_HOST;
    if (why_p != NULL)
        *why_p = why;
    if (why == MG_SHARED) {
        mg_handshake(comm); /* rank 0 has cleared its word before anybody writes */
    } else if (data != NULL) {
        (void) munmap(data, bytes);
        data = NULL;
    }
    if (own >= 0)
        (void) close(own);
    return data;
}

enum mg_unshared mg_shared_reserve(struct mg_state *state, size_t bytes)
{
    enum mg_unshared why = MG_SHARED;

    state->shared = shared.data;
    if (mg_all_true(state->comm,
                    shared.data != NULL && shared.with == state->comm && bytes <= shared.bytes))
        return MG_SHARED;
    mg_shared_free();
    shared.data = mg_shared_map(state->comm, bytes, &why);
    if (shared.data == NULL)
        return why;
    shared.bytes = bytes;
    shared.with  = state->comm;
    /* The rank that writes touches it first, so that it is in its NUMA domain. */
    if (state->rank == state->ranks - 1)
        memset(shared.data, 0, bytes);
    mg_handshake(state->comm);
    state->shared = shared.data;
    return MG_SHARED;
}

void mg_shared_free(void)
{
    if (shared.data != NULL)
        (void) munmap(shared.data, shared.bytes);
    shared.data  = NULL;
    shared.bytes = 0;
}
