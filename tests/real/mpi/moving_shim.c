/* moving_shim - preloaded: messages of MOVES_BYTES or more take MOVES_NS longer, and move in a
 * known way.
 *
 * MOVES_IN=thread: in the background, from their start on, whatever their ranks do meanwhile.
 * MOVES_IN=wait: in MPI_Wait alone.
 * TEST_NS: MPI_Test takes so much longer. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long long started_ns;
static int       is_under_way;

static long long now_ns(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long) now.tv_sec * 1000000000 + now.tv_nsec;
}

static long long number(const char *name)
{
    const char *text = getenv(name);

    return text != NULL ? atoll(text) : 0;
}

static void spin_until(long long moment_ns)
{
    while (now_ns() < moment_ns)
        ;
}

static void begin(int count)
{
    is_under_way = count >= number("MOVES_BYTES");
    started_ns   = now_ns();
}

int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    begin(count);
    return PMPI_Isend(data, count, type, to, tag, comm, request);
}

int MPI_Irecv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    begin(count);
    return PMPI_Irecv(data, count, type, from, tag, comm, request);
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    const char     *how      = getenv("MOVES_IN");
    const long long began_ns = how != NULL && strcmp(how, "wait") == 0 ? now_ns() : started_ns;
    const int       error    = PMPI_Wait(request, status);

    if (is_under_way)
        spin_until(began_ns + number("MOVES_NS"));
    is_under_way = 0;
    return error;
}

int MPI_Test(MPI_Request *request, int *done, MPI_Status *status)
{
    spin_until(now_ns() + number("TEST_NS"));
    return PMPI_Test(request, done, status);
}
