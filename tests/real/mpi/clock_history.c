/* Feeds points of a clock to its history: a line "low high at" each, in ns; prints the model that
 * is fitted after every one of them. */
#include "clock/history.h"

#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    struct mg_bounds      point = {0};
    struct mg_clock_model model = {0};

    (void) MPI_Init(&argc, &argv);
    mg_history_begin(NULL, 0, 0);
    while (scanf("%" SCNd64 " %" SCNd64 " %" SCNd64, &point.low_ns, &point.high_ns, &point.at_ns) ==
           3) {
        mg_history_add(&point);
        model = mg_history_fit(&model);

        (void) printf(
            "{\"base_ns\":%" PRId64
            ",\"offset_ns\":%.6f,\"slope\":%.9e,\"bound_ns\":%.6f,\"bound_slope\":%.9e}\n",
            model.base_ns, model.offset_ns, model.slope, model.bound_ns, model.bound_slope);
    }
    (void) MPI_Finalize();
    return 0;
}
