/* bare_put - what a put costs in loops as other benchmarks have them, without anything around it.
 *
 * bare_put allocate|create REPETITIONS BYTES:ROUNDS...
 *
 * Prints a line "way bytes ns" for each loop, per operation:
 *
 *     flush      put, MPI_Win_flush, one pair of clock readings around all
 *     unaligned  the same from memory that does not begin with a page, as malloc returns it
 *     each       the same with two clock readings in every iteration, which are in its time
 *     lock       MPI_Win_lock, put, MPI_Win_unlock
 *     fence      MPI_Win_fence, put, MPI_Win_fence
 *
 * Rank 1 waits in MPI_Barrier meanwhile, for flush_recv and lock_recv in MPI_Recv; fences both
 * call. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PAGE_BYTES = 4096, UNALIGNED_BYTES = 2032, WARMUPS = 1000, EXIT_USAGE = 2 };

struct put {
    MPI_Win        win;
    unsigned char *send;
    int            bytes;
    int            rank;
};

static int64_t now_ns(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

static void put(const struct put *of)
{
    MPI_Put(of->send, of->bytes, MPI_BYTE, 1, 0, of->bytes, MPI_BYTE, of->win);
}

/* ---- Timed code ------------------------------------------------------------------------------ */

static double flush(const struct put *of, int rounds)
{
    const int64_t start_ns = now_ns();

    for (int i = 0; i < rounds; i++) {
        put(of);
        MPI_Win_flush(1, of->win);
    }
    return (double) (now_ns() - start_ns) / rounds;
}

static double each(const struct put *of, int rounds)
{
    int64_t total_ns = 0;

    for (int i = 0; i < rounds; i++) {
        const int64_t start_ns = now_ns();

        put(of);
        MPI_Win_flush(1, of->win);
        total_ns += now_ns() - start_ns;
    }
    return (double) total_ns / rounds;
}

static double lock(const struct put *of, int rounds)
{
    const int64_t start_ns = now_ns();

    for (int i = 0; i < rounds; i++) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, of->win);
        put(of);
        MPI_Win_unlock(1, of->win);
    }
    return (double) (now_ns() - start_ns) / rounds;
}

static double fence(const struct put *of, int rounds)
{
    const int64_t start_ns = now_ns();

    for (int i = 0; i < rounds; i++) {
        MPI_Win_fence(0, of->win);
        if (of->rank == 0)
            put(of);
        MPI_Win_fence(0, of->win);
    }
    return (double) (now_ns() - start_ns) / rounds;
}

/* ---- Around it ------------------------------------------------------------------------------- */

static void say(const struct put *of, const char *way, double ns)
{
    if (of->rank == 0)
        printf("%s %d %.3f\n", way, of->bytes, ns);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The same where rank 1 has waited in MPI_Recv. */
static void say_by_message(const struct put *of, const char *way, double ns)
{
    if (of->rank == 0)
        MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    else
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    say(of, way, ns);
}

static double in_epoch(const struct put *of, double (*loop)(const struct put *, int), int rounds)
{
    double ns = 0;

    if (of->rank != 0)
        return ns;
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, of->win);
    (void) loop(of, WARMUPS < rounds ? WARMUPS : rounds);
    ns = loop(of, rounds);
    MPI_Win_unlock(1, of->win);
    return ns;
}

static void run(const struct put *of, int rounds)
{
    const int  warmups   = WARMUPS < rounds ? WARMUPS : rounds;
    struct put unaligned = *of;

    unaligned.send += UNALIGNED_BYTES;
    MPI_Barrier(MPI_COMM_WORLD);
    say(of, "flush", in_epoch(of, flush, rounds));
    say(of, "unaligned", in_epoch(&unaligned, flush, rounds));
    say(of, "each", in_epoch(of, each, rounds));
    if (of->rank == 0)
        (void) lock(of, warmups);
    say(of, "lock", of->rank == 0 ? lock(of, rounds) : 0);
    say_by_message(of, "flush_recv", in_epoch(of, flush, rounds));
    say_by_message(of, "lock_recv", of->rank == 0 ? lock(of, rounds) : 0);
    (void) fence(of, warmups);
    const double ns = fence(of, rounds);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, of->win);
    say(of, "fence", ns);
}

static _Noreturn void refuse(void)
{
    (void) fprintf(stderr,
                   "usage: mpiexec -n 2 bare_put allocate|create REPETITIONS BYTES:ROUNDS...\n");
    (void) MPI_Abort(MPI_COMM_WORLD, EXIT_USAGE);
    exit(EXIT_USAGE);
}

static unsigned char *touched_memory(size_t bytes)
{
    const size_t         pages = (bytes + PAGE_BYTES - 1) / PAGE_BYTES;
    unsigned char *const data  = aligned_alloc(PAGE_BYTES, pages * PAGE_BYTES);

    if (data == NULL)
        refuse();
    memset(data, 1, pages * PAGE_BYTES);
    return data;
}

int main(int argc, char **argv)
{
    struct put     of      = {.win = MPI_WIN_NULL};
    unsigned char *memory  = NULL;
    int            ranks   = 0;
    int            largest = 1;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &of.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 4 || ranks != 2)
        refuse();
    for (int i = 3; i < argc; i++)
        if (atoi(argv[i]) > largest)
            largest = atoi(argv[i]);
    of.send                   = touched_memory((size_t) largest + UNALIGNED_BYTES);
    unsigned char *const ours = touched_memory((size_t) largest);
    if (strcmp(argv[1], "create") == 0)
        MPI_Win_create(ours, largest, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &of.win);
    else
        MPI_Win_allocate(largest, 1, MPI_INFO_NULL, MPI_COMM_WORLD, (void *) &memory, &of.win);
    for (int repetition = 0; repetition < atoi(argv[2]); repetition++)
        for (int i = 3; i < argc; i++) {
            const char *rounds = strchr(argv[i], ':');

            if (rounds == NULL || atoi(rounds + 1) < 1)
                refuse();
            of.bytes = atoi(argv[i]);
            run(&of, atoi(rounds + 1));
        }
    MPI_Win_free(&of.win);
    free(of.send);
    free(ours);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
