/* fetch_and_op - rank 0 adds to a word of rank 1 and gets what it held. */
#include "patterns/atomics.h"
#include "rounds/sampling.h"

static void begin(struct mg_state *state)
{
    mg_fetch_begin(state);
    mg_epoch_begin(state);
}

MG_RMA_CALL(flush, mg_fetch_and_add)
MG_RMA_CALL(lock, mg_fetch_and_add)

static bool check(const struct mg_state *state, char *error, size_t error_bytes)
{
    return mg_fetch_check(state, 0, 1, 1, error, error_bytes);
}

const struct mg_pattern mg_fetch_and_op = {
    .name  = "fetch_and_op",
    .about = "rank 0 adds to a word of rank 1 with MPI_Fetch_and_op",
    MG_ONE_OPERATION,
    .unit_bytes = MG_WORD_MIN,
    .check      = check,
    .modes = MG_MODES(MG_FLUSH("MPI_Fetch_and_op", "", begin, .directions = 1, MG_WORD_ROOM),
                      MG_LOCK("MPI_Fetch_and_op", mg_fetch_begin, .directions = 1, MG_WORD_ROOM)),
};
