/* shim - preloaded into the ranks: does something to every MPI_Send of SHIM_BYTES bytes.
 *
 * SHIM_ACTION is hang, crash, corrupt, exit (ends with status 0 and no word) or delay, which spins
 * for SHIM_DELAY_NS: a delay of known size, which a measurement must find. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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

static void spin(long delay_ns)
{
    const long long until_ns = now_ns() + delay_ns;

    while (now_ns() < until_ns)
        ;
}

int MPI_Send(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    static long  bytes    = -2;
    static long  delay_ns = 0;
    static const char *action = "";

    if (bytes == -2) {
        bytes    = number("SHIM_BYTES");
        delay_ns = number("SHIM_DELAY_NS");
        action   = getenv("SHIM_ACTION");
    }
    if (count != bytes || action == NULL)
        return PMPI_Send(data, count, type, to, tag, comm);
    if (strcmp(action, "delay") == 0)
        spin(delay_ns);
    if (strcmp(action, "hang") == 0)
        for (;;)
            (void) pause();
    if (strcmp(action, "crash") == 0) {
        (void) fprintf(stderr, "shim: these are my last words\n");
        (void) raise(SIGSEGV);
    }
    if (strcmp(action, "exit") == 0)
        _exit(0);
    if (strcmp(action, "corrupt") == 0 && count > 5) {
        unsigned char *copy = malloc((size_t) count);

        memcpy(copy, data, (size_t) count);
        copy[5] ^= 0x40;
        const int code = PMPI_Send(copy, count, type, to, tag, comm);
        free(copy);
        return code;
    }
    return PMPI_Send(data, count, type, to, tag, comm);
}
