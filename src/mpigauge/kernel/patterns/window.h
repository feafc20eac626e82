/* window.h - memory of ranks that others reach by one-sided operations. */
#ifndef MG_WINDOW_H
#define MG_WINDOW_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/* How a window gets its memory. */
enum mg_window_kind {
    MG_WINDOW_ALLOCATE, /* from MPI_Win_allocate */
    MG_WINDOW_CREATE,   /* ours, by MPI_Win_create */
    MG_WINDOW_DYNAMIC,  /* ours, attached to MPI_Win_create_dynamic */
    MG_WINDOW_SHARED,   /* from MPI_Win_allocate_shared */
    MG_WINDOW_KINDS
};

/* A window of a group, with the same room on each of its ranks. */
struct mg_window {
    MPI_Win        win;
    unsigned char *here;       /* this rank's memory in it */
    MPI_Aint      *there;      /* where that of each rank begins, as target displacements count */
    size_t         bytes;      /* of payload; a word for flags lies behind it */
    MPI_Group      partner;    /* the other one of two ranks, else MPI_GROUP_NULL */
    bool           is_unified; /* what others have put is read by loads */
};

#endif
