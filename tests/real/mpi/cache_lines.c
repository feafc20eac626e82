/* cache_lines ROOT - the length of a cache line of a machine whose /sys is below ROOT. */
#include "memory/granularity.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    (void) printf("%zu\n", mg_line_bytes_at(argc > 1 ? argv[1] : ""));
    return EXIT_SUCCESS;
}
