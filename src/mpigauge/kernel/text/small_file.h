/* small_file.h - files of the system that are one line. */
#ifndef MG_SMALL_FILE_H
#define MG_SMALL_FILE_H

#include <stddef.h>

/* The line of a file in a folder, without its end; the text stays as it is where there is no file,
 * and is empty where reading fails, as of the speed of an interface that is down. */
void mg_small_file_line(const char *folder, const char *name, char *text, size_t bytes);

#endif
