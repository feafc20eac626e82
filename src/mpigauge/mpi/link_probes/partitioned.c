/* partitioned - links where a library has the partitioned messages of MPI 4.  It is not run. */
#include <mpi.h>
#include <stddef.h>

int main(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int         there   = 0;

    return MPI_Psend_init(NULL, 1, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request) ||
           MPI_Precv_init(NULL, 1, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request) ||
           MPI_Pready(0, request) || MPI_Pready_range(0, 0, request) ||
           MPI_Parrived(request, 0, &there);
}
