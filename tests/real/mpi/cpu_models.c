/* cpu_models CPUINFO - the model of the processor that a file like /proc/cpuinfo is of. */
#include "machine/host_facts.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    char text[MG_HOST_TEXT_BYTES] = "";

    mg_cpu_model(argc > 1 ? argv[1] : "/proc/cpuinfo", text, sizeof text);
    (void) printf("%s\n", text);
    return EXIT_SUCCESS;
}
