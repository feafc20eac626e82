/* die - the end of the relay. */
#include "die.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void lab_die(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    exit(EXIT_FAILURE);
}
