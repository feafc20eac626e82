/* failing_disk - preloaded into mpigauge: from some call on, writes to result files fail.
 *
 * FAIL_CALL is write, fsync, flock or ftruncate, FAIL_AFTER how many of them go well, FAIL_ERRNO
 * the error. With FAIL_PART=1 the first failing write writes half. Other files are left alone. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static int left = -1;

static int is_result(int fd)
{
    char    link[64];
    char    path[4096];
    ssize_t length;

    (void) snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    length = readlink(link, path, sizeof path - 1);
    if (length < 6)
        return 0;
    path[length] = '\0';
    return strcmp(path + length - 6, ".jsonl") == 0;
}

static int fails(const char *call, int fd)
{
    const char *chosen = getenv("FAIL_CALL");

    if (chosen == NULL || strcmp(chosen, call) != 0 || !is_result(fd))
        return 0;
    if (left < 0)
        left = atoi(getenv("FAIL_AFTER"));
    if (left > 0) {
        left--;
        return 0;
    }
    errno = atoi(getenv("FAIL_ERRNO"));
    return 1;
}

ssize_t write(int fd, const void *data, size_t bytes)
{
    ssize_t (*real)(int, const void *, size_t);
    const int first = left != 0;

    *(void **) &real = dlsym(RTLD_NEXT, "write");
    if (!fails("write", fd))
        return real(fd, data, bytes);
    if (first && getenv("FAIL_PART") != NULL && bytes > 1)
        return real(fd, data, bytes / 2);
    return -1;
}

int fsync(int fd)
{
    int (*real)(int);

    *(void **) &real = dlsym(RTLD_NEXT, "fsync");
    return fails("fsync", fd) ? -1 : real(fd);
}

int flock(int fd, int operation)
{
    int (*real)(int, int);

    *(void **) &real = dlsym(RTLD_NEXT, "flock");
    return fails("flock", fd) ? -1 : real(fd, operation);
}

int ftruncate(int fd, off_t bytes)
{
    int (*real)(int, off_t);

    *(void **) &real = dlsym(RTLD_NEXT, "ftruncate");
    return fails("ftruncate", fd) ? -1 : real(fd, bytes);
}
