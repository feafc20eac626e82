/* cpu_lists BYTES - the list of every other of 512 processors, in so many bytes. */
#include "ranks/affinity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    const size_t   bytes = argc > 1 ? (size_t) strtol(argv[1], NULL, 10) : 64;
    struct mg_cpus cpus;
    char           text[4096];

    memset(&cpus, 0, sizeof cpus);
    for (size_t i = 0; i < 512 / 64; i++)
        cpus.words[i] = UINT64_C(0x5555555555555555);
    mg_cpus_text(&cpus, text, bytes < sizeof text ? bytes : sizeof text);
    (void) printf("%s\n", text);
    return EXIT_SUCCESS;
}
