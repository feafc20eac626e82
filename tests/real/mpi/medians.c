/* medians - of each line of numbers that it reads: found in a copy, and in place. */
#include "rounds/samples.h"

#include <stdio.h>
#include <stdlib.h>

enum { VALUES_MAX = 256 };

/* The numbers of a line, into memory of just their size: what is read beyond it would be seen. */
static int64_t *read_values(char *line, int *count)
{
    int64_t found[VALUES_MAX];
    char   *rest = line;

    for (*count = 0; *count < VALUES_MAX; (*count)++) {
        char *const word = rest;

        found[*count] = strtoll(word, &rest, 10);
        if (rest == word)
            break;
    }
    int64_t *values = malloc((size_t) *count * sizeof *values);

    for (int i = 0; values != NULL && i < *count; i++)
        values[i] = found[i];
    return values;
}

int main(void)
{
    char  *line = NULL;
    size_t room = 0;

    while (getline(&line, &room, stdin) > 0) {
        int      count  = 0;
        int64_t *values = read_values(line, &count);

        if (values == NULL || count == 0)
            return EXIT_FAILURE;
        const long long copied   = mg_median_of(values, count);
        const long long in_place = mg_median_in(values, count);
        (void) printf("%lld %lld\n", copied, in_place);
        free(values);
    }
    free(line);
    return EXIT_SUCCESS;
}
