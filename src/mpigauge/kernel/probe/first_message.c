/* first_message - the time of the first message of a program, with all that it sets up. */
#include "probe/first_message.h"

#include "clock/clock.h"
#include "ranks/abort.h"
#include "ranks/groups.h"

#include <unistd.h>

/* Ranks leave MPI_Init at different times, and only messages could tell when the last one has.  So
 * rank 1 sleeps before it posts its receive, rank 0 sleeps longer before it sends, and all others
 * sleep until both are done. */
enum { ANSWER_AFTER_US = 5000, SEND_AFTER_US = 10000, OTHERS_AFTER_US = 20000 };

static int64_t there_and_back_ns(void)
{
    const int64_t begin_ns = mg_now_ns();

    MG_MPI(MPI_Send(NULL, 0, MPI_BYTE, 1, MG_TAG_CONTROL, MPI_COMM_WORLD));
    MG_MPI(MPI_Recv(NULL, 0, MPI_BYTE, 1, MG_TAG_CONTROL, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    return mg_since_ns(begin_ns);
}

static void answer(void)
{
    MG_MPI(MPI_Recv(NULL, 0, MPI_BYTE, 0, MG_TAG_CONTROL, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MG_MPI(MPI_Send(NULL, 0, MPI_BYTE, 0, MG_TAG_CONTROL, MPI_COMM_WORLD));
}

int64_t mg_first_round_trip_ns(void)
{
    int64_t took_ns = -1;
    int     rank    = 0;
    int     ranks   = 0;

    MG_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    MG_MPI(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    if (ranks == 1)
        return took_ns;
    (void) usleep(rank == 0 ? SEND_AFTER_US : rank == 1 ? ANSWER_AFTER_US : OTHERS_AFTER_US);
    (void) mg_now_ns(); /* the first reading takes longer */
    if (rank == 0)
        took_ns = there_and_back_ns();
    else if (rank == 1)
        answer();
    return took_ns;
}
