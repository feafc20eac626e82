/* session - a session is opened and closed beside MPI_Init.
 *
 * The build defines MG_LACKS_SESSIONS where a program with these calls cannot be linked: mpi.h may
 * declare what the library lacks, and Open MPI 5 has them although it reports MPI 3.1. */
#include "patterns/communicators.h"
#include "rounds/sampling.h"

#if !defined(MG_LACKS_SESSIONS) && \
    (MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5))

static MPI_Session opened(void)
{
    MPI_Session session = MPI_SESSION_NULL;

    MG_MPI(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    return session;
}

static void init_finalize(struct mg_state *state)
{
    MPI_Session session = opened();

    (void) state;
    MG_MPI(MPI_Session_finalize(&session));
}

/* Every session has at least the process sets mpi://WORLD and mpi://SELF. */
static bool check(const struct mg_state *state, char *error, size_t error_bytes)
{
    MPI_Session session = opened();
    int         sets    = 0;

    (void) state;
    MG_MPI(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &sets));
    MG_MPI(MPI_Session_finalize(&session));
    if (sets >= 2)
        return true;
    (void) snprintf(error, error_bytes, "a session has %d process sets, and not two or more", sets);
    return false;
}

#define CALLS .call = init_finalize

#else

/* Not called: --describe says that there is one. */
static bool check(const struct mg_state *state, char *error, size_t error_bytes)
{
    (void) state;
    (void) error;
    (void) error_bytes;
    return true;
}

#define CALLS .lacks = "MPI_Session_init of MPI 4"

#endif

const struct mg_pattern mg_session = {
    .name  = "session",
    .about = "a session is opened beside MPI_Init and closed",
    MG_MADE_AND_FREED,
    .check = check,
    .modes = MG_MODES({.name       = "init-finalize",
                       .about      = "MPI_Session_init and MPI_Session_finalize",
                       .directions = 1,
                       CALLS}),
};
