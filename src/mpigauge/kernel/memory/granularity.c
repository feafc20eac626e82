/* granularity - sizes of pages and cache lines. */
#include "memory/granularity.h"

#include "text/small_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    PAGE_USUAL_BYTES = 4096,
    LINE_MIN_BYTES   = 64,
    CACHES_MAX       = 16,
    TEXT_BYTES       = 128,
};

size_t mg_page_bytes(void)
{
    const long bytes = sysconf(_SC_PAGESIZE);

    return bytes > 0 ? (size_t) bytes : PAGE_USUAL_BYTES;
}

/* The line size of a cache of the first processor; 0 if not known. */
static size_t line_of_cache(const char *root, int index)
{
    char name[TEXT_BYTES];
    char text[TEXT_BYTES] = "";

    (void) snprintf(name, sizeof name,
                    "sys/devices/system/cpu/cpu0/cache/index%d/coherency_line_size", index);
    mg_small_file_line(root, name, text, sizeof text);
    const long long bytes = strtoll(text, NULL, 10);
    return bytes > 0 && bytes <= MG_LINE_MAX_BYTES ? (size_t) bytes : 0;
}

size_t mg_line_bytes_at(const char *root)
{
    size_t largest = LINE_MIN_BYTES;

    for (int i = 0; i < CACHES_MAX; i++) {
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
