/* die - ends the relay with a sentence on standard error. */
#include "die.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void lab_die(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    exit(EXIT_FAILURE);
}
