/* die - the end of the relay. */
#include "die.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void lab_die(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    exit(EXIT_FAILURE);
}

void lab_check(bool good, const char *what)
{
    const int reason = errno;

    if (!good)
        lab_die(what, strerror(reason));
}
