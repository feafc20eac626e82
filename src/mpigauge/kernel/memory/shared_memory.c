/* shared_memory - memory that all ranks of a group see, for what no message can be faster than. */
#include "memory/shared_memory.h"

#include "clock/clock.h"
#include "ranks/abort.h"
#include "ranks/groups.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PATH_BYTES = 64 };

static struct {
    unsigned char *data;
    size_t         bytes;
    MPI_Comm       with;
} shared = {.with = MPI_COMM_NULL};

/* Without a name in any file system: nothing can stay behind. */
static int own_file(size_t bytes)
{
    const int file = memfd_create("mpigauge", MFD_CLOEXEC);

    if (file >= 0 && ftruncate(file, (off_t) bytes) == 0)
        return file;
    if (file >= 0)
        (void) close(file);
    return -1;
}

static int file_of_rank_0(const struct mg_state *state, size_t bytes, int *own_p)
{
    char path[PATH_BYTES] = {0};

    if (state->rank == 0) {
        *own_p = own_file(bytes);
        (void) snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long) getpid(), *own_p);
    }
    mg_share(state->comm, path, sizeof path);
    return open(path, O_RDWR | O_CLOEXEC);
}

/* Another host may have a process of the same number: only who finds rank 0's word shares with it.
 */
static bool is_the_same(const struct mg_state *state, unsigned char *data)
{
    uint64_t word  = (uint64_t) mg_now_ns();
    uint64_t found = 0;

    mg_share(state->comm, &word, sizeof word);
    if (state->rank == 0)
        memcpy(data, &word, sizeof word);
    mg_handshake(state->comm);
    memcpy(&found, data, sizeof found);
    const bool same = mg_all(state->comm, found == word);
    memset(data, 0, sizeof word);
    return same;
}

bool mg_shared_reserve(struct mg_state *state, size_t bytes)
{
    int own = -1;

    state->shared = shared.data;
    if (mg_all(state->comm,
               shared.data != NULL && shared.with == state->comm && bytes <= shared.bytes))
        return true;
    mg_shared_free();
    const int file = file_of_rank_0(state, bytes, &own);
    void     *data =
        file < 0 ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    const bool mapped = mg_all(state->comm, data != MAP_FAILED);

    if (file >= 0)
        (void) close(file);
    if (own >= 0)
        (void) close(own);
    if (data != MAP_FAILED) {
        shared.data  = data;
        shared.bytes = bytes;
        shared.with  = state->comm;
    }
    if (!mapped || !is_the_same(state, data)) {
        mg_shared_free();
        return false;
    }
    /* The rank that writes it touches it first, so that it lies in that one's memory. */
    if (state->rank == state->ranks - 1)
        memset(shared.data, 0, bytes);
    mg_handshake(state->comm);
    state->shared = shared.data;
    return true;
}

void mg_shared_free(void)
{
    if (shared.data != NULL)
        (void) munmap(shared.data, shared.bytes);
    shared.data  = NULL;
    shared.bytes = 0;
}
