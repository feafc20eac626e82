/* bare_pingpong - what a ping-pong costs when nobody measures it: one pair of clock readings around
 * many round trips, nothing else.  The reference that mpigauge's medians are compared with.
 *
 * bare_pingpong REPETITIONS BYTES:ROUNDS...
 *
 * Prints a line "bytes one_way_ns" for each loop.  The sizes take turns, so that a slow second of
 * the machine does not hit all the repetitions of one size.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    PAGE_BYTES = 4096,
    TAG        = 1,
    WARMUPS    = 1000,      /* at most a tenth of the rounds */
    LARGEST    = 1 << 30,   /* bytes */
    MAX_ROUNDS = 100000000, /* about a minute of the fastest messages */
    EXIT_USAGE = 2,
};

struct loop {
    int bytes;
    int rounds;
};

struct buffers {
    unsigned char *send;
    unsigned char *recv;
};

/* ---- Timed code ------------------------------------------------------------------------------ */

static int64_t now_ns(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

static void ping(const struct buffers *buffers, int bytes, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        MPI_Send(buffers->send, bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
        MPI_Recv(buffers->recv, bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void pong(const struct buffers *buffers, int bytes, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        MPI_Recv(buffers->recv, bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(buffers->send, bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
    }
}

static int64_t time_loop(int rank, const struct buffers *buffers, int bytes, int rounds)
{
    const int64_t start_ns = now_ns();

    if (rank == 0)
        ping(buffers, bytes, rounds);
    else if (rank == 1)
        pong(buffers, bytes, rounds);
    return now_ns() - start_ns;
}

/* ---- Around it ------------------------------------------------------------------------------- */

static void run_loop(int rank, const struct buffers *buffers, struct loop loop)
{
    const int warmups = loop.rounds / 10 < WARMUPS ? loop.rounds / 10 : WARMUPS;

    MPI_Barrier(MPI_COMM_WORLD);
    (void) time_loop(rank, buffers, loop.bytes, warmups);
    const int64_t elapsed_ns = time_loop(rank, buffers, loop.bytes, loop.rounds);

    if (rank == 0) {
        printf("%d %.3f\n", loop.bytes, (double) elapsed_ns / (2.0 * loop.rounds));
        (void) fflush(stdout);
    }
}

static _Noreturn void refuse(const char *sentence)
{
    (void) fprintf(stderr, "bare_pingpong: %s\n", sentence);
    (void) MPI_Abort(MPI_COMM_WORLD, EXIT_USAGE);
    exit(EXIT_USAGE);
}

/* A whole number from least to most; what follows it must be `end`. */
static int number(const char *text, char end, long least, long most, const char **rest_p)
{
    char      *rest  = NULL;
    const long value = strtol(text, &rest, 10);

    if (rest == text || *rest != end || value < least || value > most)
        refuse("usage: bare_pingpong REPETITIONS BYTES:ROUNDS...");
    *rest_p = rest + 1;
    return (int) value;
}

static struct loop read_loop(const char *text)
{
    const char *rest = NULL;
    struct loop loop = {.bytes = number(text, ':', 0, LARGEST, &rest)};

    loop.rounds = number(rest, '\0', 1, MAX_ROUNDS, &rest);
    return loop;
}

/* Page-aligned, every page touched, content that is not constant: as mpigauge's kernel has it. */
static unsigned char *touched_memory(int bytes)
{
    const size_t         pages = ((size_t) bytes + PAGE_BYTES - 1) / PAGE_BYTES;
    unsigned char *const data  = aligned_alloc(PAGE_BYTES, pages * PAGE_BYTES);

    if (data == NULL)
        refuse("there is no memory for messages of this size");
    for (size_t i = 0; i < pages * PAGE_BYTES; i++)
        data[i] = (unsigned char) (i * 2654435761u >> 24);
    return data;
}

int main(int argc, char **argv)
{
    int         rank    = 0;
    int         ranks   = 0;
    int         largest = 1;
    const char *rest    = NULL;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 3 || ranks != 2)
        refuse("usage: mpiexec -n 2 bare_pingpong REPETITIONS BYTES:ROUNDS...");

    const int repetitions = number(argv[1], '\0', 1, MAX_ROUNDS, &rest);
    for (int i = 2; i < argc; i++)
        if (read_loop(argv[i]).bytes > largest)
            largest = read_loop(argv[i]).bytes;
    const struct buffers buffers = {.send = touched_memory(largest),
                                    .recv = touched_memory(largest)};

    for (int repetition = 0; repetition < repetitions; repetition++)
        for (int i = 2; i < argc; i++)
            run_loop(rank, &buffers, read_loop(argv[i]));

    free(buffers.send);
    free(buffers.recv);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
