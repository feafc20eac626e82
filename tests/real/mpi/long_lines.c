/* long_lines - a journal of long and short lines, whose file another process writes to, too. */
#include "clock/clock.h"
#include "text/journal.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NUMBERS = 300000, PAUSE_US = 50 };

clockid_t mg_clock_id = CLOCK_MONOTONIC;

/* This is rank 0, without a job. */
int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
    (void) comm;
    *rank = 0;
    return MPI_SUCCESS;
}

static void write_between(const char *path)
{
    const char words[] = "another's\n";
    const int  file    = open(path, O_WRONLY | O_APPEND);

    while (write(file, words, sizeof words - 1) > 0)
        (void) usleep(PAUSE_US);
}

static void write_lines(void)
{
    FILE *out = mg_journal_line();

    (void) fprintf(out, "{\"long\":[0");
    for (int i = 1; i < NUMBERS; i++)
        (void) fprintf(out, ",%d", i);
    (void) fprintf(out, "]}");
    mg_journal_end_line();
    mg_journal_end(1);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return EXIT_FAILURE;
    mg_journal_open(argv[1]);
    const pid_t other = fork();
    if (other == 0)
        write_between(argv[1]);
    (void) usleep(100 * PAUSE_US); /* until it writes */
    write_lines();
    write_lines();
    (void) kill(other, SIGKILL);
    (void) waitpid(other, NULL, 0);
    mg_journal_close();
    return EXIT_SUCCESS;
}
