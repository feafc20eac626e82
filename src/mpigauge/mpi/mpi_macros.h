/* mpi_macros.h - the macros of an MPI library, for its compiler wrapper to print.
 *
 * In angle brackets: an mpi.h in the folder that we are in is not the library's. */
#include <mpi.h>
