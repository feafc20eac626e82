/* groups.h - groups of ranks: communicators, barriers, broadcasts. */
#ifndef MG_GROUPS_H
#define MG_GROUPS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    MG_TAG         = 1, /* measured messages */
    MG_TAG_CONTROL = 2, /* handshakes, outside timed code */
    MG_TAG_IDLE    = 3, /* the idle barrier */
};

/* Some ranks of the world, in an order, with a communicator of their own. */
struct mg_group {
    MPI_Comm comm; /* MPI_COMM_NULL on ranks outside, and where it is made for each visit anew */
    int      ranks;
};

/* A communicator of these ranks, in this order.  Collective over them. */
MPI_Comm mg_comm_of_members(const int *ranks, int count);

/* The group of the first so many ranks, made once.  Collective over the world. */
struct mg_group mg_group_of(int ranks);
void            mg_groups_free(void);

/* Returns when every rank of comm has called it: a dissemination barrier of empty messages, the
 * same for all MPI libraries. */
void mg_handshake(MPI_Comm comm);

/* A barrier over the world in which ranks that wait long sleep, so that they do not disturb those
 * that measure. */
void mg_idle_barrier(void);

/* The same; calls `poll` whenever it checks for messages. */
void mg_idle_barrier_polling(void (*poll)(void));

void mg_broadcast(MPI_Comm comm, void *data, size_t bytes); /* from rank 0 */
bool mg_all_true(MPI_Comm comm, bool here);                 /* true if it is true on every rank */

#endif
