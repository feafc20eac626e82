/* sessions - links where a library has the sessions of MPI 4.  It is not run. */
#include <mpi.h>

int main(void)
{
    MPI_Session session = MPI_SESSION_NULL;
    int         sets    = 0;

    return MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) ||
           MPI_Session_get_num_psets(session, MPI_INFO_NULL, &sets) ||
           MPI_Session_finalize(&session);
}
