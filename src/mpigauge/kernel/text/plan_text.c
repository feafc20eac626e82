/* plan_text - the text of the plan: read on rank 0, known to all. */
#include "text/plan_text.h"

#include "ranks/abort.h"
#include "ranks/groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 1024 };

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

char *mg_plan_text(const char *path)
{
    char  *text  = NULL;
    size_t bytes = 0;
    int    rank  = 0;

    MG_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    if (rank == 0)
        text = read_all(path, &bytes);
    mg_share(MPI_COMM_WORLD, &bytes, sizeof bytes);
    if (rank != 0)
        text = malloc(bytes + 1);
    if (text == NULL)
        MG_DIE("no memory for the plan");
    mg_share(MPI_COMM_WORLD, text, bytes);
    text[bytes] = '\0';
    return text;
}
