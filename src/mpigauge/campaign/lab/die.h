/* die.h - the end of the relay. */
#ifndef LAB_DIE_H
#define LAB_DIE_H

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* Ends the relay with a sentence. */
_Noreturn void lab_die(const char *what, const char *why);

/* The same with the reason of a call that has failed. */
static inline void lab_check(bool good, const char *what)
{
    const int reason = errno;

    if (!good)
        lab_die(what, strerror(reason));
}

#endif
