/* granularity - the pieces in which this machine has its memory. */
#include "memory/granularity.h"

#include "text/small_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    PAGE_USUAL_BYTES = 4096,
    LINE_LEAST_BYTES = 64,
    CACHES_MOST      = 16,
    TEXT_BYTES       = 128,
};

size_t mg_page_bytes(void)
{
    const long bytes = sysconf(_SC_PAGESIZE);

    return bytes > 0 ? (size_t) bytes : PAGE_USUAL_BYTES;
}

/* What the system says of a cache of the first processor; 0 if it says nothing. */
static size_t line_of_cache(const char *root, int index)
{
    char name[TEXT_BYTES];
    char text[TEXT_BYTES] = "";

    (void) snprintf(name, sizeof name,
                    "sys/devices/system/cpu/cpu0/cache/index%d/coherency_line_size", index);
    mg_small_file_line(root, name, text, sizeof text);
    const long long bytes = strtoll(text, NULL, 10);
    return bytes > 0 && bytes <= MG_LINE_MOST_BYTES ? (size_t) bytes : 0;
}

size_t mg_line_bytes_at(const char *root)
{
    size_t largest = LINE_LEAST_BYTES;

    for (int i = 0; i < CACHES_MOST; i++) {
        const size_t bytes = line_of_cache(root, i);

        largest = bytes > largest ? bytes : largest;
    }
    return largest;
}

size_t mg_line_bytes(void)
{
    static size_t known;

    if (known == 0)
        known = mg_line_bytes_at("");
    return known;
}
