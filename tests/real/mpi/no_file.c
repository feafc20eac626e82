/* no_file - preloaded: no process can make a file without a name, as in a sandbox. */
#include <errno.h>

int memfd_create(const char *name, unsigned flags);

int memfd_create(const char *name, unsigned flags)
{
    (void) name;
    (void) flags;
    errno = ENOSYS;
    return -1;
}
