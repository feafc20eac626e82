/* win_create - all ranks make a window of one page and free it again. */
#include "memory/windows.h"
#include "rounds/sampling.h"

static void allocate(struct mg_state *state)
{
    mg_window_make_and_free(state->comm, MG_WINDOW_ALLOCATE);
}

static void create(struct mg_state *state)
{
    mg_window_make_and_free(state->comm, MG_WINDOW_CREATE);
}

static void dynamic(struct mg_state *state)
{
    mg_window_make_and_free(state->comm, MG_WINDOW_DYNAMIC);
}

static void shared(struct mg_state *state)
{
    mg_window_make_and_free(state->comm, MG_WINDOW_SHARED);
}

const struct mg_pattern mg_win_create = {
    .name      = "win_create",
    .about     = "all ranks make a window of 4 KiB each, and free it",
    .time_of   = "making and freeing one window, from the first start to the last end",
    .family    = MG_STARTUP,
    .sampling  = &mg_sampling_common,
    .min_ranks = 2,
    .trips     = 1,
    .modes     = MG_MODES({.name       = "allocate",
                           .about      = "MPI_Win_allocate, MPI_Win_free",
                           .call       = allocate,
                           .directions = 1},
                          {.name       = "create",
                           .about      = "MPI_Win_create, MPI_Win_free",
                           .call       = create,
                           .directions = 1},
                          {.name       = "dynamic",
                           .about      = "MPI_Win_create_dynamic, MPI_Win_attach, MPI_Win_detach, "
                                         "MPI_Win_free",
                           .call       = dynamic,
                           .directions = 1},
                          {.name           = "shared",
                           .about          = "MPI_Win_allocate_shared, MPI_Win_free",
                           .call           = shared,
                           .directions     = 1,
                           .needs_one_host = true}),
};
