/* pools - fits the memory pools of cold visits to the caches of the hosts that measure: the plan
 * may come from a login node with smaller caches. */
#include "machine/pools.h"

#include "machine/host_facts.h"
#include "ranks/abort.h"

#include <mpi.h>

void mg_pools_fit(struct mg_plan *plan)
{
    int64_t here    = mg_host_facts_read().cache_bytes;
    int64_t largest = 0;

    if (plan->pool_caches == 0)
        return;
    MG_MPI(MPI_Allreduce(&here, &largest, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD));
    const size_t least = (size_t) (plan->pool_caches * largest);
    for (int i = 0; i < plan->visits_count; i++)
        if (plan->visits[i].pool_bytes > 0 && plan->visits[i].pool_bytes < least)
            plan->visits[i].pool_bytes = least;
}
