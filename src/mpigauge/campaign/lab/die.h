/* die.h - ends the relay with a sentence on standard error. */
#ifndef LAB_DIE_H
#define LAB_DIE_H

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* Ends the relay with a sentence. */
_Noreturn void lab_die(const char *what, const char *why);

/* Ends the relay with the reason in errno if a call has failed. */
static inline void lab_check(bool good, const char *what)
{
    const int reason = errno;

    if (!good)
        lab_die(what, strerror(reason));
}

#endif
