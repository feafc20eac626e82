/* plan_text - the text of the plan, read on rank 0 and sent to the others.
 *
 * A map of p ranks has p (p - 1) / 2 pairs, and a rank is in p - 1 of them.  So each rank keeps
 * only its own lines, and one line of every step in which it has none: memory for one line per
 * step.  The text is sent in blocks. */
#include "text/plan_text.h"

#include "ranks/abort.h"
#include "ranks/groups.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 1024, BLOCK_BYTES = 1 << 20 };

static const long no_step = -1;

/* mpigauge sends a plan on standard input only as far as it is asked for: Hydra aborts a job that
 * does not read 64 KiB at once. */
static void ask_for_more(const FILE *file, size_t bytes)
{
    if (file != stdin)
        return;
    (void) dprintf(STDOUT_FILENO, "{\"ready\":%zu}\n", bytes);
}

/* Makes room for another line. */
static char *with_room(char *text, size_t bytes, size_t *room_p)
{
    if (*room_p - bytes >= LINE_BYTES)
        return text;
    *room_p    = 2 * *room_p + LINE_BYTES;
    char *more = realloc(text, *room_p);
    if (more == NULL)
        MG_DIE("no memory for the plan");
    return more;
}

static _Noreturn void die_without_end(const char *path, const FILE *file)
{
    if (file == stdin)
        MG_DIE("standard input ended before the plan's line 'end': its launcher must pass it on");
    MG_DIE("the plan %s has no line 'end': it is torn or empty", path);
}

/* Reads up to the line "end", which also shows that the plan is complete: some launchers never
 * close the standard input of a rank.  At a line "more" the next part has to be asked for. */
static char *read_all(const char *path, size_t *bytes_p)
{
    FILE  *file  = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    char  *text  = NULL;
    size_t bytes = 0;
    size_t room  = 0;

    if (file == NULL)
        MG_DIE("cannot read the plan %s", path);
    ask_for_more(file, bytes);
    do {
        text = with_room(text, bytes, &room);
        if (fgets(text + bytes, LINE_BYTES, file) == NULL)
            die_without_end(path, file);
        if (strcmp(text + bytes, "more\n") == 0)
            ask_for_more(file, bytes);
        else
            bytes += strlen(text + bytes);
    } while (strcmp(text + bytes - (bytes < 5 ? bytes : 5), "\nend\n") != 0);
    if (file != stdin)
        (void) fclose(file);
    bytes -= strlen("end\n");
    text[bytes] = '\0';
    *bytes_p    = bytes;
    return text;
}

/* ---- Lines for one rank ---------------------------------------------------------------------- */

/* The value of a key in a line; NULL without it. */
static const char *value_of(const char *line, const char *end, const char *key)
{
    const char *at = memmem(line, (size_t) (end - line), key, strlen(key));

    return at != NULL ? at + strlen(key) : NULL;
}

static bool has_rank(const char *pair, int rank)
{
    char *end = NULL;

    return strtol(pair, &end, 10) == rank || (*end == '-' && strtol(end + 1, &end, 10) == rank);
}

/* Removes lines of pairs without this rank, except the first of a step; returns the new length. */
static size_t drop_others(char *text, int rank, long *step_p)
{
    char *to = text;

    for (char *line = text, *end; *line != '\0'; line = end) {
        const char *newline = strchr(line, '\n');

        end                    = newline != NULL ? line + (newline - line) + 1 : strchr(line, '\0');
        const char *const pair = value_of(line, end, " pair=");
        const char *const word = pair != NULL ? value_of(line, end, " step=") : NULL;
        const long        step = word != NULL ? strtol(word, NULL, 10) : no_step;

        if (step == no_step || step != *step_p || has_rank(pair, rank)) {
            memmove(to, line, (size_t) (end - line));
            to += end - line;
        }
        *step_p = step;
    }
    *to = '\0';
    return (size_t) (to - text);
}

/* The length of as many whole lines as fit into a block. */
static size_t block_of(const char *text, size_t bytes)
{
    size_t part = bytes <= BLOCK_BYTES ? bytes : BLOCK_BYTES;

    while (part < bytes && part > 0 && text[part - 1] != '\n')
        part--;
    if (part == 0 && bytes > 0)
        MG_DIE("a line of the plan is longer than %d B", BLOCK_BYTES);
    return part;
}

static void send_text(char *text, size_t bytes)
{
    for (size_t part = 1; part > 0; text += part, bytes -= part) {
        part = block_of(text, bytes);
        mg_broadcast(MPI_COMM_WORLD, &part, sizeof part);
        mg_broadcast(MPI_COMM_WORLD, text, part);
    }
}

static char *receive_text(int rank)
{
    char  *text  = NULL;
    size_t bytes = 0;
    long   step  = no_step;

    for (size_t part = 1; part > 0;) {
        mg_broadcast(MPI_COMM_WORLD, &part, sizeof part);
        char *more = realloc(text, bytes + part + 1);
        if (more == NULL)
            MG_DIE("no memory for the plan");
        text = more;
        mg_broadcast(MPI_COMM_WORLD, text + bytes, part);
        text[bytes + part] = '\0';
        bytes += drop_others(text + bytes, rank, &step);
    }
    return text;
}

char *mg_plan_text(const char *path)
{
    size_t bytes = 0;
    int    rank  = 0;

    MG_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    if (rank != 0)
        return receive_text(rank);
    char *text = read_all(path, &bytes);
    send_text(text, bytes);
    return text;
}
