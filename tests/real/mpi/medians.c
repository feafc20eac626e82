/* medians - of the numbers that it is given: found in a copy, and in place. */
#include "rounds/samples.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    const int count  = argc - 1;
    int64_t  *values = malloc((size_t) argc * sizeof *values);

    if (values == NULL || count == 0)
        return EXIT_FAILURE;
    for (int i = 0; i < count; i++)
        values[i] = strtoll(argv[i + 1], NULL, 10);
    const long long copied   = mg_median_of(values, count);
    const long long in_place = mg_median_in(values, count);
    (void) printf("%lld %lld\n", copied, in_place);
    free(values);
    return EXIT_SUCCESS;
}
