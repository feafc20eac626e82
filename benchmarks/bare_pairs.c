/* bare_pairs - many ranks at once in loops written as other benchmarks describe theirs: several
 * pairs as osu_mbw_mr, osu_multi_lat and Uniband of IMB, both neighbours as Exchange of IMB.
 *
 * bare_pairs REPETITIONS BYTES...
 *
 * Prints a line "loop bytes ns" for each loop: of windows per message of all pairs, of round trips
 * one way, of exchanges one.  Receives of a window have places of their own, unlike in OSU, whose
 * receives overlap; the window is that of OSU for all, and buffers begin where a page does, as
 * OSU's do. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    TAG        = 1,
    WINDOW     = 64,
    LARGEST    = 1 << 24,
    WARMUPS    = 10,
    VOLUME     = 100 << 20,
    MOST       = 1000,
    PAGE_BYTES = 4096
};

struct setting {
    int            rank;
    int            pairs;
    int            bytes;
    unsigned char *send;
    unsigned char *recv;
};

static int64_t now_ns(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

static int peer_of(const struct setting *of)
{
    return of->rank < of->pairs ? of->rank + of->pairs : of->rank - of->pairs;
}

static void window(const struct setting *of)
{
    MPI_Request requests[WINDOW];
    const int   peer = peer_of(of);

    if (of->rank < of->pairs) {
        for (int i = 0; i < WINDOW; i++)
            MPI_Isend(of->send, of->bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &requests[i]);
        MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
        MPI_Recv(of->recv, 1, MPI_BYTE, peer, TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        for (int i = 0; i < WINDOW; i++)
            MPI_Irecv(of->recv + (size_t) i * (size_t) of->bytes, of->bytes, MPI_BYTE, peer, TAG,
                      MPI_COMM_WORLD, &requests[i]);
        MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
        MPI_Send(of->send, 1, MPI_BYTE, peer, TAG + 1, MPI_COMM_WORLD);
    }
}

static void round_trip(const struct setting *of)
{
    const int peer  = peer_of(of);
    const int first = of->rank < of->pairs;

    if (first)
        MPI_Send(of->send, of->bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD);
    MPI_Recv(of->recv, of->bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!first)
        MPI_Send(of->send, of->bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD);
}

static void exchange(const struct setting *of)
{
    MPI_Request requests[2];
    const int   ranks = 2 * of->pairs;
    const int   left  = (of->rank + ranks - 1) % ranks;
    const int   right = (of->rank + 1) % ranks;

    MPI_Isend(of->send, of->bytes, MPI_BYTE, right, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(of->send, of->bytes, MPI_BYTE, left, TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Recv(of->recv, of->bytes, MPI_BYTE, left, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(of->recv + of->bytes, of->bytes, MPI_BYTE, right, TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/* Seconds of this rank; with barriers before each call, as osu_mbw_mr has two. */
static double timed(const struct setting *of, void (*call)(const struct setting *), int rounds,
                    int barriers)
{
    int64_t total_ns = 0;

    MPI_Barrier(MPI_COMM_WORLD);
    const int64_t start_ns = now_ns();
    for (int i = 0; i < rounds; i++) {
        for (int k = 0; k < barriers; k++)
            MPI_Barrier(MPI_COMM_WORLD);
        const int64_t begin_ns = barriers > 0 ? now_ns() : 0;
        call(of);
        if (barriers > 0)
            total_ns += now_ns() - begin_ns;
    }
    return (double) (barriers > 0 ? total_ns : now_ns() - start_ns);
}

/* Of the ranks that send first, their mean or the largest. */
static double together(const struct setting *of, double own_ns, MPI_Op op)
{
    const double mine   = of->rank < of->pairs || op == MPI_MAX ? own_ns : 0;
    double       all_ns = 0;

    MPI_Allreduce(&mine, &all_ns, 1, MPI_DOUBLE, op, MPI_COMM_WORLD);
    return op == MPI_SUM ? all_ns / of->pairs : all_ns;
}

static void say(const struct setting *of, const char *loop, double ns)
{
    if (of->rank == 0)
        printf("%s %d %.3f\n", loop, of->bytes, ns);
    (void) fflush(stdout);
}

static int rounds_of(int bytes, int messages)
{
    const int fit = VOLUME / ((bytes > 0 ? bytes : 1) * messages);

    return fit < WARMUPS ? WARMUPS : fit > MOST ? MOST : fit;
}

static void run(const struct setting *of)
{
    const int    windows  = rounds_of(of->bytes, WINDOW);
    const int    trips    = 10 * rounds_of(of->bytes, 1);
    const double messages = (double) windows * WINDOW * of->pairs;

    (void) timed(of, window, WARMUPS, 0);
    say(of, "mbw_mr", together(of, timed(of, window, windows, 2), MPI_SUM) / messages);
    say(of, "uniband", together(of, timed(of, window, windows, 0), MPI_MAX) / messages);
    (void) timed(of, round_trip, WARMUPS, 0);
    say(of, "multi_lat", together(of, timed(of, round_trip, trips, 0), MPI_SUM) / (2.0 * trips));
    (void) timed(of, exchange, WARMUPS, 0);
    say(of, "exchange", together(of, timed(of, exchange, trips, 0), MPI_MAX) / trips);
}

int main(int argc, char **argv)
{
    struct setting of    = {0};
    int            ranks = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &of.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    of.pairs = ranks / 2;
    of.send  = aligned_alloc(PAGE_BYTES, LARGEST);
    of.recv  = aligned_alloc(PAGE_BYTES, (size_t) WINDOW * LARGEST);
    if (argc < 3 || ranks % 2 != 0 || of.send == NULL || of.recv == NULL)
        MPI_Abort(MPI_COMM_WORLD, 2);
    memset(of.send, 1, LARGEST);
    for (int repetition = 0; repetition < atoi(argv[1]); repetition++)
        for (int i = 2; i < argc; i++) {
            of.bytes = atoi(argv[i]) <= LARGEST ? atoi(argv[i]) : LARGEST;
            run(&of);
        }
    free(of.send);
    free(of.recv);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
