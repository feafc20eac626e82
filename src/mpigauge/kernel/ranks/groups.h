/* groups.h - ranks together: their communicators, and how they wait for each other. */
#ifndef MG_GROUPS_H
#define MG_GROUPS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    MG_TAG         = 1, /* of measured messages */
    MG_TAG_CONTROL = 2, /* of handshakes, outside timed code */
    MG_TAG_REST    = 3, /* of ranks that wait for all others */
};

/* The first `ranks` of the world, with a communicator of their own. */
struct mg_group {
    MPI_Comm comm; /* MPI_COMM_NULL on ranks outside */
    int      ranks;
};

/* Cached: the same communicator for the same number of ranks.  Collective over the world. */
struct mg_group mg_group_of(int ranks);
void            mg_groups_free(void);

/* Returns when every rank of comm has called it: a dissemination barrier of empty messages, the
 * same for all MPI libraries. */
void mg_handshake(MPI_Comm comm);

/* Returns when every rank of the world has called it.  Ranks that wait long sleep in it, so that
 * they cost the measured ranks nothing. */
void mg_rest_until_all(void);

/* The same, which does something between two looks. */
void mg_rest_until_all_but(void (*meanwhile)(void));

void mg_share(MPI_Comm comm, void *data, size_t bytes); /* from rank 0 to all */
bool mg_all(MPI_Comm comm, bool here);                  /* true if it is true on every rank */

#endif
