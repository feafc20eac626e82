/* small_file - reads one-line files of /proc and /sys. */
#include "text/small_file.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

void mg_small_file_line(const char *folder, const char *name, char *text, size_t bytes)
{
    char path[PATH_MAX];

    (void) snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return;
    if (fgets(text, (int) bytes, file) == NULL)
        text[0] = '\0';
    (void) fclose(file);
    char *end = strchr(text, '\n');
    if (end != NULL)
        *end = '\0';
}
