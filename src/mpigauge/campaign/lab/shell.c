/* shell - the replacement of ssh in a lab: runs a command on another of its hosts.
 *
 *   shell [OPTIONS OF SSH] [USER@]HOST [COMMAND WORD...]
 *
 * As with ssh, the words of the command are joined with spaces and read by /bin/sh there. The
 * environment, the working directory and all open files go along, which ssh would not do. */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_MAX = 4096, FAILED = 255 /* the status of ssh for its own errors */ };

/* The options of OpenSSH 10: a letter with a colon takes a value. */
static const char OPTIONS[] =
    "+1246ab:c:e:fgi:kl:m:no:p:qstvxAB:CD:E:F:GI:J:KL:MNO:P:Q:R:S:TVw:W:XYy";

static _Noreturn void die(const char *host, const char *what)
{
    fprintf(stderr, "mpigauge lab: %s: %s\n", host, what);
    exit(FAILED);
}

/* Here each host has links, by its name and its address, to the namespaces of one of its processes.
 */
#define HOSTS "/dev/shm/lab/hosts"

#define INTERFACE "eth0"

/* The mount namespace comes last: after it HOSTS is out of reach. */
static const char *const NAMESPACES[] = {"net", "uts", "ipc", "mnt"};
enum { NAMESPACE_COUNT = sizeof NAMESPACES / sizeof NAMESPACES[0] };

/* The link is there as long as the lab, what it leads to as long as that process. */
static const char *why_not_opened(const char *host)
{
    const int   error = errno;
    char        link[PATH_MAX];
    struct stat status;

    snprintf(link, sizeof link, HOSTS "/%s", host);
    if (lstat(link, &status) != 0)
        return "no host of this lab is called so";
    return error == ENOENT || error == ESRCH ? "this host has died" : strerror(error);
}

static bool is_network_down(void)
{
    struct ifreq request = {.ifr_name = INTERFACE};
    const int    any     = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const bool   known   = any >= 0 && ioctl(any, SIOCGIFFLAGS, &request) == 0;

    (void) close(any);
    return known && (request.ifr_flags & IFF_UP) == 0;
}

static bool is_network_of_ours(int fd)
{
    struct stat theirs, ours;

    return fstat(fd, &theirs) == 0 && stat("/proc/self/ns/net", &ours) == 0 &&
           theirs.st_ino == ours.st_ino;
}

/* Nothing goes through the network on the way; but where ssh would reach nobody, neither do we. */
static void enter(const char *host)
{
    int fds[NAMESPACE_COUNT];

    for (int i = 0; i < NAMESPACE_COUNT; i++) {
        char path[PATH_MAX];

        snprintf(path, sizeof path, HOSTS "/%s/%s", host, NAMESPACES[i]);
        fds[i] = open(path, O_RDONLY | O_CLOEXEC);
        if (fds[i] < 0)
            die(host, why_not_opened(host));
    }

    const bool is_elsewhere = !is_network_of_ours(fds[0]);

    if (is_elsewhere && is_network_down())
        die(host, "the network is down here");
    for (int i = 0; i < NAMESPACE_COUNT; i++)
        if (setns(fds[i], 0) != 0)
            die(host, strerror(errno));
    if (is_elsewhere && is_network_down())
        die(host, "the network of this host is down");
}

static char *joined(char **words)
{
    char  *text   = NULL;
    size_t bytes  = 0;
    FILE  *stream = open_memstream(&text, &bytes);

    if (stream == NULL)
        return NULL;
    for (char **word = words; *word != NULL; word++)
        fprintf(stream, "%s%s", *word, word[1] != NULL ? " " : "");
    return fclose(stream) == 0 ? text : NULL;
}

/* Skips options, which may be on both sides of the host; returns whether -n or -f was one of them.
 */
static bool pass_options(int count, char **words)
{
    bool without_input = false;

    for (int letter; (letter = getopt(count, words, OPTIONS)) != -1;) {
        if (letter == '?')
            exit(FAILED);
        without_input = without_input || letter == 'n' || letter == 'f';
    }
    return without_input;
}

int main(int count, char **words)
{
    bool without_input = pass_options(count, words);

    if (optind >= count)
        die("shell", "usage: shell [OPTIONS OF SSH] [USER@]HOST [COMMAND WORD...]");

    const char *at   = strrchr(words[optind], '@');
    const char *host = at != NULL ? at + 1 : words[optind];

    optind++;
    without_input = pass_options(count, words) || without_input;
    if (*host == '\0' || *host == '.' || strchr(host, '/') != NULL)
        die(host, "no host of this lab is called so");

    char *here    = getcwd(NULL, 0);
    char *command = joined(words + optind);

    if (command == NULL)
        die(host, "out of memory");
    enter(host);
    if (here == NULL || chdir(here) != 0)
        die(host, "the working directory is not there");
    if (without_input && freopen("/dev/null", "r", stdin) == NULL)
        die(host, "/dev/null cannot be read");
    if (*command == '\0')
        execl("/bin/sh", "sh", (char *) NULL);
    else
        execl("/bin/sh", "sh", "-c", command, (char *) NULL);
    die(host, strerror(errno));
}
