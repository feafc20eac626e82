/* rma_shim - preloaded into the ranks: what libraries may do to one-sided operations.
 *
 * RMA_DELAY_NS    MPI_Win_flush spins so long.
 * RMA_HANG_BYTES  MPI_Win_flush after an MPI_Put of so many bytes never returns.
 * RMA_TARGET=FILE MPI_Win_flush waits until rank RMA_TARGET_RANK, else 1, is in a function of MPI
 *                 that waits, which all see in that file: no progress without it.
 *                 The target itself neither waits nor spins.
 * RMA_TWICE       MPI_Fetch_and_op does it twice.
 * RMA_SWAPS       MPI_Compare_and_swap swaps whatever it finds.
 * RMA_UNATTACHED  MPI_Win_attach fails on this rank, or on any.
 * RMA_LEFT=FILE   MPI_Finalize makes that file where a dynamic window is open.
 * RMA_SHORT       MPI_Get leaves out the last byte. */
#include <fcntl.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static int last_put_bytes;

static long number(const char *name)
{
    const char *text = getenv(name);

    return text != NULL ? atol(text) : -1;
}

static long long now_ns(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long) now.tv_sec * 1000000000 + now.tv_nsec;
}

static int rank_here(void)
{
    static int rank = -1;

    if (rank < 0)
        (void) PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

static int target(void)
{
    return number("RMA_TARGET_RANK") >= 0 ? (int) number("RMA_TARGET_RANK") : 1;
}

/* Whether the target waits in MPI; NULL if nobody asks. */
static atomic_int *waits(void)
{
    static atomic_int *shared;
    const char        *path = getenv("RMA_TARGET");

    if (shared != NULL || path == NULL)
        return shared;
    const int file = open(path, O_RDWR);
    shared         = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    (void) close(file);
    return shared;
}

static void enter(void)
{
    if (waits() != NULL && rank_here() == target())
        atomic_fetch_add(waits(), 1);
}

static void leave(void)
{
    if (waits() != NULL && rank_here() == target())
        atomic_fetch_sub(waits(), 1);
}

int MPI_Recv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status *status)
{
    enter();
    const int code = PMPI_Recv(data, count, type, from, tag, comm, status);
    leave();
    return code;
}

int MPI_Sendrecv(const void *out, int sent, MPI_Datatype sent_type, int to, int sent_tag, void *in,
                 int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    enter();
    const int code =
        PMPI_Sendrecv(out, sent, sent_type, to, sent_tag, in, count, type, from, tag, comm, status);
    leave();
    return code;
}

int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    enter();
    const int code = PMPI_Bcast(data, count, type, root, comm);
    leave();
    return code;
}

int MPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    enter();
    const int code = PMPI_Allreduce(in, out, count, type, op, comm);
    leave();
    return code;
}

int MPI_Put(const void *data, int count, MPI_Datatype type, int to, MPI_Aint place, int placed,
            MPI_Datatype placed_type, MPI_Win win)
{
    last_put_bytes = count;
    return PMPI_Put(data, count, type, to, place, placed, placed_type, win);
}

int MPI_Fetch_and_op(const void *data, void *result, MPI_Datatype type, int to, MPI_Aint place,
                     MPI_Op op, MPI_Win win)
{
    if (getenv("RMA_TWICE") != NULL)
        (void) PMPI_Fetch_and_op(data, result, type, to, place, op, win);
    return PMPI_Fetch_and_op(data, result, type, to, place, op, win);
}

int MPI_Get(void *data, int count, MPI_Datatype type, int from, MPI_Aint place, int placed,
            MPI_Datatype placed_type, MPI_Win win)
{
    const int missing = getenv("RMA_SHORT") != NULL && count > 0;

    return PMPI_Get(data, count - missing, type, from, place, placed - missing, placed_type, win);
}

static MPI_Win open_dynamic = MPI_WIN_NULL;

int MPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *made)
{
    const int code = PMPI_Win_create_dynamic(info, comm, made);

    open_dynamic = *made;
    return code;
}

int MPI_Win_free(MPI_Win *win)
{
    if (*win == open_dynamic)
        open_dynamic = MPI_WIN_NULL;
    return PMPI_Win_free(win);
}

int MPI_Finalize(void)
{
    const char *path = getenv("RMA_LEFT");

    if (path != NULL && open_dynamic != MPI_WIN_NULL)
        (void) close(open(path, O_WRONLY | O_CREAT, 0600));
    return PMPI_Finalize();
}

int MPI_Compare_and_swap(const void *data, const void *compared, void *result, MPI_Datatype type,
                         int to, MPI_Aint place, MPI_Win win)
{
    if (getenv("RMA_SWAPS") != NULL)
        return PMPI_Fetch_and_op(data, result, type, to, place, MPI_REPLACE, win);
    return PMPI_Compare_and_swap(data, compared, result, type, to, place, win);
}

int MPI_Win_attach(MPI_Win win, void *data, MPI_Aint bytes)
{
    const char *where = getenv("RMA_UNATTACHED");

    if (where == NULL || (strcmp(where, "any") != 0 && atoi(where) != rank_here()))
        return PMPI_Win_attach(win, data, bytes);
    (void) PMPI_Win_call_errhandler(win, MPI_ERR_RMA_ATTACH);
    return MPI_ERR_RMA_ATTACH;
}

int MPI_Win_flush(int rank, MPI_Win win)
{
    if (last_put_bytes > 0 && last_put_bytes == number("RMA_HANG_BYTES"))
        for (;;)
            (void) pause();
    if (waits() != NULL && rank_here() == target())
        return PMPI_Win_flush(rank, win);
    while (waits() != NULL && atomic_load(waits()) == 0)
        ;
    const long long until_ns = now_ns() + number("RMA_DELAY_NS");

    while (number("RMA_DELAY_NS") > 0 && now_ns() < until_ns)
        ;
    return PMPI_Win_flush(rank, win);
}
