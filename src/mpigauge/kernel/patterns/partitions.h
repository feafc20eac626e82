/* partitions.h - partitioned messages (MPI 4.0, chapter 4), and what takes their place where the
 * library lacks them.
 *
 * The build defines MG_LACKS_PARTITIONED where a program with these calls cannot be linked: mpi.h
 * may declare what the library lacks, and Open MPI 5 has them although it reports MPI 3.1. */
#ifndef MG_PARTITIONS_H
#define MG_PARTITIONS_H

#include "patterns/calls.h"

enum { MG_SEND, MG_RECV }; /* requests of a visit */

static inline void mg_start_and_wait(struct mg_state *state, int which)
{
    MG_MPI(MPI_Start(&state->requests[which]));
    mg_wait(&state->requests[which]);
}

#if !defined(MG_LACKS_PARTITIONED) && \
    (MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5))

static inline void mg_psend_init(struct mg_state *state, int to)
{
    const MPI_Count bytes = (MPI_Count) (state->bytes / (size_t) state->partitions);

    MG_MPI(MPI_Psend_init(state->send, state->partitions, bytes, MPI_BYTE, to, MG_TAG, state->comm,
                          MPI_INFO_NULL, &state->requests[MG_SEND]));
}

static inline void mg_precv_init(struct mg_state *state, int from)
{
    const MPI_Count bytes = (MPI_Count) (state->bytes / (size_t) state->partitions);

    MG_MPI(MPI_Precv_init(state->recv, state->partitions, bytes, MPI_BYTE, from, MG_TAG,
                          state->comm, MPI_INFO_NULL, &state->requests[MG_RECV]));
}

/* Open MPI 5 copies the world's communicator when partitioned requests are first started, which
 * needs all ranks.  The checker of clang-tidy does not know that such requests are nonblocking.
 * NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker) */
static inline void mg_first_partitions(MPI_Comm world)
{
    unsigned char sent = 0, received = 0;
    MPI_Request   requests[2];
    int           rank  = 0;
    int           ranks = 0;

    MG_MPI(MPI_Comm_rank(world, &rank));
    MG_MPI(MPI_Comm_size(world, &ranks));
    MG_MPI(MPI_Psend_init(&sent, 1, 1, MPI_BYTE, (rank + 1) % ranks, MG_TAG, world, MPI_INFO_NULL,
                          &requests[MG_SEND]));
    MG_MPI(MPI_Precv_init(&received, 1, 1, MPI_BYTE, (rank + ranks - 1) % ranks, MG_TAG, world,
                          MPI_INFO_NULL, &requests[MG_RECV]));
    MG_MPI(MPI_Startall(2, requests));
    MG_MPI(MPI_Pready(0, requests[MG_SEND]));
    MG_MPI(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    MG_MPI(MPI_Request_free(&requests[MG_SEND]));
    MG_MPI(MPI_Request_free(&requests[MG_RECV]));
}
/* NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker) */

#define MG_HAS_PARTITIONS
#define MG_FIRST_PARTITIONS mg_first_partitions

#else

#define MG_FIRST_PARTITIONS NULL
#define MG_NO_PARTITIONS    .lacks = "MPI_Psend_init of MPI 4"

#endif

#endif
