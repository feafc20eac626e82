/* plan_text - the text of the plan: read on rank 0; the others hear what concerns them.
 *
 * A map of p ranks has p (p - 1) / 2 pairs, of which a rank is in p - 1: each keeps its own lines,
 * and of a step in which it has none a line that says so, so that it needs memory for one line a
 * step.  The text passes by in blocks. */
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

/* Whoever feeds us a plan through a launcher sends no more than we have asked for: Hydra gives a
 * job up that does not take 64 KiB at once. */
static void ask_for_more(const FILE *file, size_t bytes)
{
    if (file != stdin)
        return;
    (void) dprintf(STDOUT_FILENO, "{\"ready\":%zu}\n", bytes);
}

/* Makes room for another line. */
static char *grown(char *text, size_t bytes, size_t *room_p)
{
    if (*room_p - bytes >= LINE_BYTES)
        return text;
    *room_p    = 2 * *room_p + LINE_BYTES;
    char *more = realloc(text, *room_p);
    if (more == NULL)
        MG_DIE("no memory for the plan");
    return more;
}

/* Reads up to the line "end", not up to the end of the file: some launchers hand on what they read
 * but never close our standard input.  It also tells a whole plan from a torn one.
 * A line "more" stands where the next part of it will only come if we ask. */
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
        text = grown(text, bytes, &room);
        if (fgets(text + bytes, LINE_BYTES, file) == NULL)
            MG_DIE("the plan %s has no line 'end': it is torn or empty", path);
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

/* ---- What concerns a rank -------------------------------------------------------------------- */

/* What is behind a key of a line, NULL without it. */
static const char *value_of(const char *line, const char *end, const char *key)
{
    const char *at = memmem(line, (size_t) (end - line), key, strlen(key));

    return at != NULL ? at + strlen(key) : NULL;
}

static bool is_of(const char *pair, int rank)
{
    char *end = NULL;

    return strtol(pair, &end, 10) == rank || (*end == '-' && strtol(end + 1, &end, 10) == rank);
}

/* Lines of pairs that this rank is not in are left out, but for the first of a step. */
static size_t keep_own(char *text, int rank, long *step_p)
{
    char *to = text;

    for (char *line = text, *end; *line != '\0'; line = end) {
        const char *newline = strchr(line, '\n');

        end                    = newline != NULL ? line + (newline - line) + 1 : strchr(line, '\0');
        const char *const pair = value_of(line, end, " pair=");
        const char *const word = pair != NULL ? value_of(line, end, " step=") : NULL;
        const long        step = word != NULL ? strtol(word, NULL, 10) : no_step;

        if (step == no_step || step != *step_p || is_of(pair, rank)) {
            memmove(to, line, (size_t) (end - line));
            to += end - line;
        }
        *step_p = step;
    }
    *to = '\0';
    return (size_t) (to - text);
}

/* Up to the end of a line, as many bytes as fit into a block. */
static size_t block_of(const char *text, size_t bytes)
{
    if (bytes <= BLOCK_BYTES)
        return bytes;
    bytes = BLOCK_BYTES;
    while (text[bytes - 1] != '\n')
        bytes--;
    return bytes;
}

static void tell(char *text, size_t bytes)
{
    for (size_t part = 1; part > 0; text += part, bytes -= part) {
        part = block_of(text, bytes);
        mg_share(MPI_COMM_WORLD, &part, sizeof part);
        mg_share(MPI_COMM_WORLD, text, part);
    }
}

static char *hear(int rank)
{
    char  *text  = NULL;
    size_t bytes = 0;
    long   step  = no_step;

    for (size_t part = 1; part > 0;) {
        mg_share(MPI_COMM_WORLD, &part, sizeof part);
        char *more = realloc(text, bytes + part + 1);
        if (more == NULL)
            MG_DIE("no memory for the plan");
        text = more;
        mg_share(MPI_COMM_WORLD, text + bytes, part);
        text[bytes + part] = '\0';
        bytes += keep_own(text + bytes, rank, &step);
    }
    return text;
}

char *mg_plan_text(const char *path)
{
    size_t bytes = 0;
    int    rank  = 0;

    MG_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    if (rank != 0)
        return hear(rank);
    char *text = read_all(path, &bytes);
    tell(text, bytes);
    return text;
}
