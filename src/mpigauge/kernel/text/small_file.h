/* small_file.h - reads one-line files of /proc and /sys. */
#ifndef MG_SMALL_FILE_H
#define MG_SMALL_FILE_H

#include <stddef.h>

/* Reads the first line of a file without its newline.  text stays as it is if there is no file, and
 * becomes empty if reading fails, as for the speed of an interface that is down. */
void mg_small_file_line(const char *folder, const char *name, char *text, size_t bytes);

#endif
