/* counters - counters that the operating system keeps for this rank and its host.
 *
 * Files of /proc stay open: reading one again costs a microsecond or two, opening it several. */
#include "machine/counters.h"

#include "clock/clock.h"

#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    FIRST_LINE_BYTES = 256,
    SNMP_BYTES       = 8192,
    STEAL_COLUMN     = 8, /* of the line `cpu`; its name is column 0 */
};

static const int64_t second_ns        = 1000000000;
static const int64_t stat_read_max_ns = 200000; /* /proc/stat grows with the machine */
static const int64_t not_known        = -1;
static const char    tcp_line[]       = "Tcp: ";
static const char    resent_is[]      = "RetransSegs";

struct file {
    int  descriptor; /* 0 = not opened yet; -1 = there is none */
    bool too_slow;
};

static struct {
    struct file schedstat;
    struct file stat;
    struct file snmp;
} files;

/* Reads the beginning of a file as a string; false if it cannot. */
static bool read_file(struct file *file, const char *path, char *text, size_t bytes)
{
    if (file->descriptor == 0)
        file->descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (file->descriptor < 0)
        return false;
    const ssize_t count         = pread(file->descriptor, text, bytes - 1, 0);
    text[count > 0 ? count : 0] = '\0';
    return count > 0;
}

/* Word `column` of a line, from 0; NULL if it has fewer. */
static const char *word_of(const char *line, int column)
{
    for (; column > 0 && line != NULL; column--) {
        line = strpbrk(line, " \n");
        line = line != NULL && *line == ' ' ? line + strspn(line, " ") : NULL;
    }
    return line;
}

static int64_t number_of(const char *line, int column)
{
    const char *word = word_of(line, column);

    return word != NULL ? strtoll(word, NULL, 10) : not_known;
}

/* The file has `on core, waiting, slices`. */
static int64_t waited_ns(void)
{
    char text[FIRST_LINE_BYTES];

    return read_file(&files.schedstat, "/proc/thread-self/schedstat", text, sizeof text)
               ? number_of(text, 1)
               : not_known;
}

static int64_t stolen_ns(void)
{
    char          text[FIRST_LINE_BYTES];
    const int64_t begin_ns = mg_now_ns();

    if (files.stat.too_slow || !read_file(&files.stat, "/proc/stat", text, sizeof text))
        return not_known;
    files.stat.too_slow = mg_now_ns() - begin_ns > stat_read_max_ns;
    const int64_t ticks = number_of(text, STEAL_COLUMN);
    return ticks >= 0 ? ticks * (second_ns / sysconf(_SC_CLK_TCK)) : not_known;
}

/* The index of a word in a heading, or -1. */
static int column_of(const char *heading, const char *name)
{
    const size_t length = strlen(name);

    for (int column = 0;; column++) {
        const char *word = word_of(heading, column);

        if (word == NULL)
            return -1;
        if (strncmp(word, name, length) == 0)
            return column;
    }
}

static int64_t resent_segments(void)
{
    char text[SNMP_BYTES];

    if (!read_file(&files.snmp, "/proc/self/net/snmp", text, sizeof text))
        return not_known;
    const char *heading = strstr(text, tcp_line);
    const char *values  = heading != NULL ? strstr(heading + 1, tcp_line) : NULL;
    const int   column  = values != NULL ? column_of(heading, resent_is) : -1;
    return column >= 0 ? number_of(values, column) : not_known;
}

struct mg_counters mg_counters_read(bool with_steal, bool with_retransmits)
{
    struct rusage      usage;
    struct mg_counters read = {.steal_ns    = with_steal ? stolen_ns() : not_known,
                               .retransmits = with_retransmits ? resent_segments() : not_known,
                               .wait_ns     = waited_ns(),
                               .cpu         = sched_getcpu()};

    read.switches = getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw : not_known;
    return read;
}

static void close_file(struct file *file)
{
    if (file->descriptor > 0)
        (void) close(file->descriptor);
    *file = (struct file){0};
}

void mg_counters_free(void)
{
    close_file(&files.schedstat);
    close_file(&files.stat);
    close_file(&files.snmp);
}

int64_t mg_counter_difference(int64_t earlier, int64_t later)
{
    return earlier >= 0 && later >= earlier ? later - earlier : not_known;
}
