/* abort.h - ends the job with one sentence; MPI calls that end it where they fail. */
#ifndef MG_ABORT_H
#define MG_ABORT_H

#include <mpi.h>

/* Ends the job with a sentence that names rank, file, line and reason. */
_Noreturn void mg_die(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
_Noreturn void mg_die_mpi(const char *file, int line, const char *call, int code);

#define MG_DIE(...) mg_die(__FILE__, __LINE__, __VA_ARGS__)

#define MG_MPI(call)                                         \
    do {                                                     \
        const int mg_code_ = (call);                         \
        if (mg_code_ != MPI_SUCCESS)                         \
            mg_die_mpi(__FILE__, __LINE__, #call, mg_code_); \
    } while (0)

#endif
