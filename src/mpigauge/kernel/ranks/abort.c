/* abort - ends the job with one sentence on standard error. */
#include "ranks/abort.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    EXIT_STATUS     = 2,
    SENTENCE_BYTES  = 2048,
    OUTPUT_DELAY_US = 200000,
};

static _Noreturn void abort_job(void)
{
    int initialised = 0;

    /* Some launchers drop what a rank wrote just before it aborted. */
    (void) usleep(OUTPUT_DELAY_US);
    (void) MPI_Initialized(&initialised);
    if (initialised)
        (void) MPI_Abort(MPI_COMM_WORLD, EXIT_STATUS);
    _exit(EXIT_STATUS);
}

/* Writes the sentence at once: another rank with the same error may end the job at any moment. */
static void write_sentence(const char *file, int line, const char *format, va_list arguments)
{
    char        text[SENTENCE_BYTES];
    const char *name = strrchr(file, '/');
    int         rank = -1;
    int         up   = 0;

    if (MPI_Initialized(&up) == MPI_SUCCESS && up)
        (void) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int at = snprintf(text, sizeof text, "mpigauge-kernel: rank %d: %s:%d: ", rank,
                      name != NULL ? name + 1 : file, line);
    at += vsnprintf(text + at, sizeof text - (size_t) at, format, arguments);
    if (at > SENTENCE_BYTES - 2)
        at = SENTENCE_BYTES - 2;
    text[at]     = '\n';
    text[at + 1] = '\0';
    (void) fputs(text, stderr);
}

void mg_die(const char *file, int line, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    write_sentence(file, line, format, arguments);
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
