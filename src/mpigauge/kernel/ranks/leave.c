/* leave - ranks that nobody waits for any more: their launcher is gone, or who feeds them the plan,
 * or a visit does not come on.
 *
 * All are told by signals, so that nothing runs between two readings of the clock. */
#include "ranks/leave.h"

#include "ranks/abort.h"
#include "ranks/stopped.h"
#include "text/small_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

enum {
    WORDS_BYTES    = 256,
    BOOT_BYTES     = 40,
    NS_PER_US      = 1000,
    US_PER_S       = 1000000,
    ABORT_WITHIN_S = 3,
};

#ifndef MG_START_MOST_S
#define MG_START_MOST_S 180
#endif

static struct {
    pid_t   parent;
    int     owner; /* what our owner reads from, as long as it lives */
    int     stops; /* when a clock last began: who was stopped gets its time again */
    int64_t limit_ns;
    char    words[WORDS_BYTES];
    size_t  words_bytes;
} state;

static void handle(int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};

    (void) sigemptyset(&action.sa_mask);
    (void) sigaction(number, &action, NULL);
}

/* ---- The launcher ---------------------------------------------------------------------------- */

#ifdef __linux__
/* A parent outside our name space of processes has number 0, as everybody there has. */
static void check_parent(int number)
{
    if (getppid() != state.parent || (state.parent == 0 && number == SIGRTMAX))
        _exit(EXIT_FAILURE);
}

/* Some launchers leave their ranks behind when they die.  The system tells that the *thread* is
 * gone that started us, which may be one of many, so the signal only says that it is time to look;
 * it is one that nothing else sends, since launchers end ranks by the usual ones.  The parent may
 * have died before we could ask to be told, or even before we could see which it was: a rank of
 * process 1 may be that of a container's launcher, so it only has to come to its plan in time. */
void mg_leave_with_launcher(void)
{
    state.parent = getppid();
    handle(SIGRTMAX, check_parent);
    (void) prctl(PR_SET_PDEATHSIG, SIGRTMAX);
    check_parent(0);
    if (state.parent == 1)
        mg_leave_unless_started();
}

/* ---- Who feeds us ---------------------------------------------------------------------------- */

static bool has_ended(int fd)
{
    struct pollfd end = {.fd = fd, .events = POLLRDHUP};

    return poll(&end, 1, 0) == 1 && (end.revents & (POLLHUP | POLLRDHUP | POLLERR)) != 0;
}

/* That is no call for a handler, but of a job that nobody reads nothing is lost if it hangs in
 * there, too: then the alarm ends this rank, and with it most launchers' job. */
static void leave_nobody(void)
{
    static const char words[] = "mpigauge-kernel: whoever started this job is gone\n";
    int               up      = 0;

    (void) !write(STDERR_FILENO, words, sizeof words - 1);
    handle(SIGALRM, SIG_DFL);
    (void) alarm(ABORT_WITHIN_S);
    if (MPI_Initialized(&up) == MPI_SUCCESS && up)
        (void) MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    _exit(EXIT_FAILURE);
}

/* To this thread, since others are the library's.  The end may have come before we could ask. */
static void hear_end_of(int fd, int number, void (*handler)(int))
{
    const struct f_owner_ex thread = {.type = F_OWNER_TID, .pid = (pid_t) syscall(SYS_gettid)};

    handle(number, handler);
    (void) fcntl(fd, F_SETOWN_EX, &thread);
    (void) fcntl(fd, F_SETSIG, number);
    (void) fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_ASYNC);
    handler(number);
}

/* Ranks on other hosts may have a launcher that outlives it, as steps of Slurm have: they are ended
 * by the abort. */
static void check_input(int number)
{
    (void) number;
    if (has_ended(STDIN_FILENO))
        leave_nobody();
}

void mg_leave_with_input(void)
{
    hear_end_of(STDIN_FILENO, SIGRTMAX - 1, check_input);
}

static void check_owner(int number)
{
    (void) number;
    if (has_ended(state.owner))
        leave_nobody();
}

/* The path may name another pipe on another machine, or one that its owner reads elsewhere: only
 * within one boot of one machine does nobody at its other end mean that nobody is left. */
void mg_leave_with_owner(void)
{
    const char *word             = getenv("MPIGAUGE_OWNER");
    char        boot[BOOT_BYTES] = "";

    mg_small_file_line("/proc/sys/kernel/random", "boot_id", boot, sizeof boot);
    const size_t bytes = strlen(boot);
    if (word == NULL || bytes == 0 || strncmp(word, boot, bytes) != 0 || word[bytes] != ':')
        return;
    state.owner = open(word + bytes + 1, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (state.owner < 0 && errno == ENXIO)
        _exit(EXIT_FAILURE);
    if (state.owner >= 0)
        hear_end_of(state.owner, SIGRTMAX - 2, check_owner);
}
#else
void mg_leave_with_launcher(void)
{
    state.parent = getppid();
}

void mg_leave_with_input(void)
{
}

void mg_leave_with_owner(void)
{
}
#endif

/* ---- The clock ------------------------------------------------------------------------------- */

static void set_alarm(int64_t after_ns)
{
    const int64_t    us    = after_ns / NS_PER_US;
    struct itimerval timer = {.it_value = {.tv_sec = us / US_PER_S, .tv_usec = us % US_PER_S}};

    state.stops = mg_stopped_times();
    (void) setitimer(ITIMER_REAL, &timer, NULL);
}

/* The alarm goes on while a rank is stopped. */
static void give_up(int number)
{
    if (mg_stopped_times() != state.stops) {
        set_alarm(state.limit_ns);
        return;
    }
    (void) !write(STDERR_FILENO, state.words, state.words_bytes);
    (void) signal(number, SIG_DFL);
    (void) raise(number);
}

/* A launcher whose own input has ended may keep that to itself, and nobody else tells a rank that
 * its plan never comes, or those that wait for it in MPI. */
void mg_leave_unless_started(void)
{
    mg_leave_after((int64_t) MG_START_MOST_S * US_PER_S * NS_PER_US, "its plan has not come");
}

void mg_leave_started(void)
{
    mg_leave_never();
}

void mg_leave_later(void)
{
    if (state.limit_ns > 0)
        set_alarm(state.limit_ns);
}

void mg_leave_never(void)
{
    if (state.limit_ns > 0)
        set_alarm(0);
    state.limit_ns = 0;
}

void mg_leave_after(int64_t limit_ns, const char *words)
{
    mg_leave_never(); /* or it could speak while its words change */
    const int length = snprintf(state.words, sizeof state.words, "mpigauge-kernel: %s\n", words);

    state.words_bytes = length < WORDS_BYTES ? (size_t) length : WORDS_BYTES - 1;
    state.limit_ns    = limit_ns;
    handle(SIGALRM, give_up);
    mg_leave_later();
}
