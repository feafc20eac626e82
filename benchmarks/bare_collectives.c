/* bare_collectives - what a collective of 8 B costs when nobody measures it: two ranks of one host
 * begin at one moment of their common clock, and a round takes from the first start to the last
 * end.  The reference that mpigauge's medians of short collectives are compared with.
 *
 * bare_collectives REPETITIONS ROUNDS
 *
 * Prints a line "operation before median_ns" for each loop.  What comes before a round decides how
 * warm the code of the operation is: `word` is the message that names the moment and nothing else;
 * `meet` has empty messages in front of it, as a round of mpigauge has.  Loops take turns, so that
 * a slow second of the machine does not hit all the repetitions of one.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    TAG        = 1,
    WARMUPS    = 100,
    MAX_ROUNDS = 1000000,
    LEAD_NS    = 5000, /* from the word to the moment that it names */
    QUIET_NS   = 3000, /* from the moment on nobody sends: it would arrive while others work */
    EXIT_USAGE = 2,
};

typedef void operation(void);

static double sent     = 1.5;
static double received = 0;

static int64_t now_ns(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- Timed code ------------------------------------------------------------------------------ */

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void bcast(void)
{
    MPI_Bcast(&sent, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

static void allreduce(void)
{
    MPI_Allreduce(&sent, &received, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static const struct {
    const char *name;
    operation  *call;
} operations[] = {{"barrier", barrier}, {"bcast", bcast}, {"allreduce", allreduce}};

static void time_round(operation *call, int64_t moment_ns, int64_t *stamps_ns)
{
    int64_t begin_ns = now_ns();

    while (begin_ns < moment_ns)
        begin_ns = now_ns();
    call();
    stamps_ns[1] = now_ns();
    stamps_ns[0] = begin_ns;
    while (now_ns() < moment_ns + QUIET_NS)
        ;
}

/* ---- Around it ------------------------------------------------------------------------------- */

static void meet(int other)
{
    MPI_Sendrecv(NULL, 0, MPI_BYTE, other, TAG, NULL, 0, MPI_BYTE, other, TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

/* The moment that rank 0 names. */
static int64_t agree(int rank)
{
    int64_t moment_ns = now_ns() + LEAD_NS;

    if (rank == 0)
        MPI_Send(&moment_ns, 1, MPI_INT64_T, 1, TAG, MPI_COMM_WORLD);
    else
        MPI_Recv(&moment_ns, 1, MPI_INT64_T, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return moment_ns;
}

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *) a;
    const int64_t y = *(const int64_t *) b;

    return (x > y) - (x < y);
}

/* What the rounds took, from the first start to the last end, in the first half of the stamps. */
static double median_ns(int rank, int rounds, int64_t *stamps_ns, int64_t *other_ns)
{
    if (rank != 0) {
        MPI_Send(stamps_ns, 2 * rounds, MPI_INT64_T, 0, TAG, MPI_COMM_WORLD);
        return 0;
    }
    MPI_Recv(other_ns, 2 * rounds, MPI_INT64_T, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < rounds; i++) {
        const int64_t *mine   = stamps_ns + 2 * (size_t) i;
        const int64_t *theirs = other_ns + 2 * (size_t) i;
        const int64_t  first  = mine[0] < theirs[0] ? mine[0] : theirs[0];
        const int64_t  last   = mine[1] > theirs[1] ? mine[1] : theirs[1];

        other_ns[i] = last - first;
    }
    qsort(other_ns, (size_t) rounds, sizeof *other_ns, by_value);
    return ((double) other_ns[(rounds - 1) / 2] + (double) other_ns[rounds / 2]) / 2;
}

static void run_loop(int rank, int which, int meets, int rounds, int64_t *stamps_ns)
{
    int64_t *other_ns = stamps_ns + 2 * (size_t) rounds;

    for (int i = -WARMUPS; i < rounds; i++) {
        if (meets)
            meet(1 - rank);
        time_round(operations[which].call, agree(rank), stamps_ns + 2 * (size_t) (i < 0 ? 0 : i));
    }
    const double time_ns = median_ns(rank, rounds, stamps_ns, other_ns);
    if (rank == 0) {
        printf("%s %s %.1f\n", operations[which].name, meets ? "meet" : "word", time_ns);
        (void) fflush(stdout);
    }
}

static _Noreturn void refuse(const char *sentence)
{
    (void) fprintf(stderr, "bare_collectives: %s\n", sentence);
    (void) MPI_Abort(MPI_COMM_WORLD, EXIT_USAGE);
    exit(EXIT_USAGE);
}

static int number(const char *text)
{
    char      *rest  = NULL;
    const long value = strtol(text, &rest, 10);

    if (rest == text || *rest != '\0' || value < 1 || value > MAX_ROUNDS)
        refuse("usage: bare_collectives REPETITIONS ROUNDS");
    return (int) value;
}

int main(int argc, char **argv)
{
    const int count = (int) (sizeof operations / sizeof *operations);
    int       rank  = 0;
    int       ranks = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 3 || ranks != 2)
        refuse("usage: mpiexec -n 2 bare_collectives REPETITIONS ROUNDS");
    const int repetitions = number(argv[1]);
    const int rounds      = number(argv[2]);
    int64_t  *stamps_ns   = calloc(4 * (size_t) rounds, sizeof *stamps_ns);
    if (stamps_ns == NULL)
        refuse("there is no memory for so many rounds");

    for (int repetition = 0; repetition < repetitions; repetition++)
        for (int which = 0; which < count; which++)
            for (int meets = 0; meets < 2; meets++)
                run_loop(rank, which, meets, rounds, stamps_ns);

    free(stamps_ns);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
