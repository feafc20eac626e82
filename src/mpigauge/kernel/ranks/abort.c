/* abort - ends the whole job with one sentence. */
#include "ranks/abort.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    EXIT_STATUS     = 2,
    WORDS_BYTES     = 2048,
    WORDS_TRAVEL_US = 200000,
};

static _Noreturn void abort_job(void)
{
    int initialised = 0;

    /* Some launchers drop what a rank said just before it aborted. */
    (void) usleep(WORDS_TRAVEL_US);
    (void) MPI_Initialized(&initialised);
    if (initialised)
        (void) MPI_Abort(MPI_COMM_WORLD, EXIT_STATUS);
    _exit(EXIT_STATUS);
}

/* In one piece: another rank that dies of the same may have the job ended at any moment. */
static void say(const char *file, int line, const char *format, va_list arguments)
{
    char        text[WORDS_BYTES];
    const char *name = strrchr(file, '/');
    int         rank = -1;
    int         up   = 0;

    if (MPI_Initialized(&up) == MPI_SUCCESS && up)
        (void) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int at = snprintf(text, sizeof text, "mpigauge-kernel: rank %d: %s:%d: ", rank,
                      name != NULL ? name + 1 : file, line);
    at += vsnprintf(text + at, sizeof text - (size_t) at, format, arguments);
    if (at > WORDS_BYTES - 2)
        at = WORDS_BYTES - 2;
    text[at]     = '\n';
    text[at + 1] = '\0';
    (void) fputs(text, stderr);
}

void mg_die(const char *file, int line, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say(file, line, format, arguments);
    va_end(arguments);
    abort_job();
}

void mg_die_mpi(const char *file, int line, const char *call, int code)
{
    char reason[MPI_MAX_ERROR_STRING] = "unknown error";
    int  length                       = 0;

    (void) MPI_Error_string(code, reason, &length);
    mg_die(file, line, "%.80s: %s", call, reason);
}
