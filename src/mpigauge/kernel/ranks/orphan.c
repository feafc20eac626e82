/* orphan - ends this rank, and with it the job, when whoever started it is gone.
 *
 * The system tells by signals, so that nothing runs between two readings of the clock. */
#include "ranks/orphan.h"

#include "ranks/abort.h"
#include "ranks/watchdog.h"
#include "text/small_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

enum {
    BOOT_BYTES     = 40,
    ABORT_WITHIN_S = 3,
    EXIT_ORPHANED  = 113, /* of no other end, so that this is not taken for a crash */
};

static struct {
    pid_t parent;
    int   owner; /* the pipe that the owner has open for reading as long as it lives */
} state;

#ifdef __linux__
static void handle(int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};

    (void) sigemptyset(&action.sa_mask);
    (void) sigaction(number, &action, NULL);
}

/* ---- The launcher ---------------------------------------------------------------------------- */

/* All processes outside our PID namespace have the number 0. */
static void check_parent(int number)
{
    if (getppid() != state.parent || (state.parent == 0 && number == SIGRTMAX))
        _exit(EXIT_ORPHANED);
}

/* Some launchers leave their ranks behind when they die.  The signal means that the *thread* that
 * started us is gone, which may be one of many, so the handler checks the parent.  SIGRTMAX is used
 * since launchers end ranks by the usual signals.  The parent may have died before prctl, or even
 * before getppid: the parent of a rank is process 1 then, or in a container where process 1 is the
 * launcher, so such a rank only has to get its plan in time. */
void mg_exit_with_launcher(void)
{
    state.parent = getppid();
    handle(SIGRTMAX, check_parent);
    (void) prctl(PR_SET_PDEATHSIG, SIGRTMAX);
    check_parent(0);
    if (state.parent == 1)
        mg_watchdog_await_plan();
}

/* ---- The owner and the input ----------------------------------------------------------------- */

static bool has_ended(int fd)
{
    struct pollfd end = {.fd = fd, .events = POLLRDHUP};

    return poll(&end, 1, 0) == 1 && (end.revents & (POLLHUP | POLLRDHUP | POLLERR)) != 0;
}

/* MPI_Abort is not safe in a signal handler.  If it hangs, nothing is lost of a job that nobody
 * reads: the alarm then ends this rank, and with it, under most launchers, the job. */
static void abort_orphaned_job(void)
{
    static const char sentence[] = "mpigauge-kernel: whoever started this job is gone\n";
    int               up         = 0;

    (void) !write(STDERR_FILENO, sentence, sizeof sentence - 1);
    handle(SIGALRM, SIG_DFL);
    (void) alarm(ABORT_WITHIN_S);
    if (MPI_Initialized(&up) == MPI_SUCCESS && up)
        (void) MPI_Abort(MPI_COMM_WORLD, EXIT_ORPHANED);
    _exit(EXIT_ORPHANED);
}

/* The signal goes to this thread, since others are the library's.  The handler is called once at
 * once, since the other end may have been closed before. */
static void watch_for_end_of(int fd, int number, void (*handler)(int))
{
    const struct f_owner_ex thread = {.type = F_OWNER_TID, .pid = (pid_t) syscall(SYS_gettid)};

    handle(number, handler);
    (void) fcntl(fd, F_SETOWN_EX, &thread);
    (void) fcntl(fd, F_SETSIG, number);
    (void) fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_ASYNC);
    handler(number);
}

/* Ranks on other hosts, whose launcher may live on as steps of Slurm do, are ended by the abort. */
static void check_input(int number)
{
    (void) number;
    if (has_ended(STDIN_FILENO))
        abort_orphaned_job();
}

void mg_exit_with_input(void)
{
    watch_for_end_of(STDIN_FILENO, SIGRTMAX - 1, check_input);
}

static void check_owner(int number)
{
    (void) number;
    if (has_ended(state.owner))
        abort_orphaned_job();
}

/* On another machine the path may name another pipe, or the same one, read from the owner's: only
 * within one boot of one machine does a pipe without a reader mean that its owner is gone. */
void mg_exit_with_owner(void)
{
    const char *owner            = getenv("MPIGAUGE_OWNER");
    char        boot[BOOT_BYTES] = "";

    mg_small_file_line("/proc/sys/kernel/random", "boot_id", boot, sizeof boot);
    const size_t bytes = strlen(boot);
    if (owner == NULL || bytes == 0 || strncmp(owner, boot, bytes) != 0 || owner[bytes] != ':')
        return;
    state.owner = open(owner + bytes + 1, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (state.owner < 0 && errno == ENXIO)
        _exit(EXIT_ORPHANED);
    if (state.owner >= 0)
        watch_for_end_of(state.owner, SIGRTMAX - 2, check_owner);
}
#else
void mg_exit_with_launcher(void)
{
    state.parent = getppid();
}

void mg_exit_with_input(void)
{
}

void mg_exit_with_owner(void)
{
}
#endif
