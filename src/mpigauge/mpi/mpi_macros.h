/* The macros of an MPI library. In angle brackets: an mpi.h in the folder that we are in is not the library's. */
#include <mpi.h>
