/* heard_plan - what a rank keeps of a plan that rank 0 tells: heard_plan PLAN WIRE RANK.
 *
 * As rank 0 it writes into WIRE what it tells the others; as any other it hears that. */
#include "text/plan_text.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
    FILE *wire;
    int   rank;
} job;

int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
    (void) comm;
    *rank = job.rank;
    return MPI_SUCCESS;
}

int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    const size_t bytes = (size_t) count;
    const size_t passed =
        job.rank == root ? fwrite(data, 1, bytes, job.wire) : fread(data, 1, bytes, job.wire);

    (void) type;
    (void) comm;
    return passed == bytes ? MPI_SUCCESS : MPI_ERR_TRUNCATE;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return EXIT_FAILURE;
    job.rank = (int) strtol(argv[3], NULL, 10);
    job.wire = fopen(argv[2], job.rank == 0 ? "wb" : "rb");
    if (job.wire == NULL)
        return EXIT_FAILURE;
    char *text = mg_plan_text(argv[1]);
    (void) fputs(text, stdout);
    free(text);
    (void) fclose(job.wire);
    return EXIT_SUCCESS;
}
