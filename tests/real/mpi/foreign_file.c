/* foreign_file - preloaded: on ranks but the first, the file that the first one shares is another
 * one, FOREIGN_FILE, as in a container where process numbers mean others. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_first(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");

    rank = rank != NULL ? rank : getenv("PMI_RANK");
    return rank == NULL || strcmp(rank, "0") == 0;
}

static int is_shared(const char *path)
{
    char          name[64] = {0};
    const ssize_t length   = readlink(path, name, sizeof name - 1);

    return length > 0 && strncmp(path, "/proc/self/", 11) != 0 && strstr(name, "mpigauge") != NULL;
}

int open(const char *path, int flags, ...)
{
    int (*real)(const char *, int, ...) = NULL;
    const char *foreign                 = getenv("FOREIGN_FILE");
    va_list     more;

    va_start(more, flags);
    const int mode = (flags & O_CREAT) != 0 ? va_arg(more, int) : 0;
    va_end(more);
    *(void **) &real = dlsym(RTLD_NEXT, "open");
    return real(foreign != NULL && is_shared(path) && !is_first() ? foreign : path, flags, mode);
}
