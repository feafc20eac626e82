/* bare_rma - one-sided operations on 8 bytes in loops without anything around them.
 *
 * bare_rma REPETITIONS allocate|create|dynamic ROUNDS
 *
 * Prints a line "name ns" for each loop, per operation; the clock is read before and after all:
 *
 *     put, get, fetch_and_op  of rank 0, each with its MPI_Win_flush; rank 1 waits in MPI_Recv
 *     notify                  a ping-pong of put, MPI_Win_flush, put of a flag, MPI_Win_flush, one
 *                             way; who waits for the flag enters MPI in every poll */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PAGE_BYTES = 4096, FLAG_AT = 128, WORD_BYTES = 8, WARMUPS = 1000, EXIT_USAGE = 2 };

struct window {
    MPI_Win        win;
    unsigned char *here;
    MPI_Aint       there; /* on the other rank */
    unsigned char *own;   /* not in the window */
    int            rank;
};

typedef void (*loop_fn)(const struct window *of);

static int64_t now_ns(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- Timed code ------------------------------------------------------------------------------ */

static void put(const struct window *of)
{
    MPI_Put(of->own, WORD_BYTES, MPI_BYTE, 1, of->there, WORD_BYTES, MPI_BYTE, of->win);
    MPI_Win_flush(1, of->win);
}

static void get(const struct window *of)
{
    MPI_Get(of->own, WORD_BYTES, MPI_BYTE, 1, of->there, WORD_BYTES, MPI_BYTE, of->win);
    MPI_Win_flush(1, of->win);
}

static void fetch_and_op(const struct window *of)
{
    MPI_Fetch_and_op(of->own, of->own + FLAG_AT, MPI_UINT64_T, 1, of->there, MPI_SUM, of->win);
    MPI_Win_flush(1, of->win);
}

static uint64_t sequence;

static void tell(const struct window *of)
{
    const int to = 1 - of->rank;

    MPI_Put(of->own, WORD_BYTES, MPI_BYTE, to, of->there, WORD_BYTES, MPI_BYTE, of->win);
    MPI_Win_flush(to, of->win);
    MPI_Put(&sequence, WORD_BYTES, MPI_BYTE, to, of->there + FLAG_AT, WORD_BYTES, MPI_BYTE,
            of->win);
    MPI_Win_flush(to, of->win);
}

static void hear(const struct window *of)
{
    const uint64_t *flag  = (const uint64_t *) (const void *) (of->here + FLAG_AT);
    int             found = 0;

    while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != sequence) {
        MPI_Win_sync(of->win);
        MPI_Iprobe(1 - of->rank, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    }
    MPI_Win_sync(of->win);
}

static void notify(const struct window *of)
{
    sequence++;
    if (of->rank == 0) {
        tell(of);
        hear(of);
    } else {
        hear(of);
        tell(of);
    }
}

static double time_ns(const struct window *of, loop_fn loop, int rounds)
{
    const int64_t start_ns = now_ns();

    for (int i = 0; i < rounds; i++)
        loop(of);
    return (double) (now_ns() - start_ns) / rounds;
}

/* ---- Around it ------------------------------------------------------------------------------- */

static void say(const struct window *of, const char *name, double ns)
{
    if (of->rank == 0)
        printf("%s %.3f\n", name, ns);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Of rank 0 alone. */
static void run(const struct window *of, const char *name, loop_fn loop, int rounds)
{
    double ns = 0;

    MPI_Barrier(MPI_COMM_WORLD);
    if (of->rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, of->win);
        (void) time_ns(of, loop, WARMUPS);
        ns = time_ns(of, loop, rounds);
        MPI_Win_unlock(1, of->win);
        MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    } else {
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    say(of, name, ns);
}

static void run_both(const struct window *of, const char *name, loop_fn loop, int rounds)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, of->win);
    (void) time_ns(of, loop, WARMUPS);
    const double ns = time_ns(of, loop, rounds) / 2;
    MPI_Win_unlock_all(of->win);
    say(of, name, ns);
}

static _Noreturn void refuse(void)
{
    (void) fprintf(stderr,
                   "usage: mpiexec -n 2 bare_rma REPETITIONS allocate|create|dynamic ROUNDS\n");
    (void) MPI_Abort(MPI_COMM_WORLD, EXIT_USAGE);
    exit(EXIT_USAGE);
}

static unsigned char *touched_page(void)
{
    unsigned char *const data = aligned_alloc(PAGE_BYTES, PAGE_BYTES);

    if (data == NULL)
        refuse();
    memset(data, 1, PAGE_BYTES);
    return data;
}

static void make(struct window *of, const char *kind, unsigned char *ours)
{
    MPI_Aint here    = 0;
    MPI_Aint both[2] = {0};

    of->here = ours;
    if (strcmp(kind, "create") == 0) {
        MPI_Win_create(ours, PAGE_BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &of->win);
    } else if (strcmp(kind, "dynamic") == 0) {
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &of->win);
        MPI_Win_attach(of->win, ours, PAGE_BYTES);
        MPI_Get_address(ours, &here);
    } else if (strcmp(kind, "allocate") == 0) {
        MPI_Win_allocate(PAGE_BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, (void *) &of->here,
                         &of->win);
    } else {
        refuse();
    }
    memset(of->here, 0, PAGE_BYTES);
    MPI_Allgather(&here, 1, MPI_AINT, both, 1, MPI_AINT, MPI_COMM_WORLD);
    of->there = both[1 - of->rank];
}

int main(int argc, char **argv)
{
    struct window of    = {.win = MPI_WIN_NULL};
    int           ranks = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &of.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 4 || ranks != 2 || atoi(argv[3]) < 1)
        refuse();
    unsigned char *const ours = touched_page();
    of.own                    = touched_page();
    make(&of, argv[2], ours);
    for (int repetition = 0; repetition < atoi(argv[1]); repetition++) {
        run(&of, "put", put, atoi(argv[3]));
        run(&of, "get", get, atoi(argv[3]));
        run(&of, "fetch_and_op", fetch_and_op, atoi(argv[3]));
        run_both(&of, "notify", notify, atoi(argv[3]));
    }
    if (strcmp(argv[2], "dynamic") == 0)
        MPI_Win_detach(of.win, ours);
    MPI_Win_free(&of.win);
    free(of.own);
    free(ours);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
