/* interfaces - what the IP interfaces of this host, or of its namespace, have carried.
 *
 * The file stays open and is read from its begin, line after line: a read at some place further on
 * would meet the middle of a line once a number before it has one digit more. */
#include "rounds/interfaces.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    TEXT_BYTES  = 4096,
    SENT_COLUMN = 8, /* after the eight columns of what was received */
};

static const char file_name[] = "/proc/self/net/dev";

static struct {
    int descriptor; /* -1 = there is none */
} own = {-1};

/* What of the lines is wanted: sums, or names. */
struct wanted {
    struct mg_traffic carried;
    struct mg_card   *cards;
    int               room;
    int               count;
};

void mg_interfaces_open(const char *root)
{
    char path[PATH_MAX];

    mg_interfaces_close();
    (void) snprintf(path, sizeof path, "%s%s", root, file_name);
    own.descriptor = open(path, O_RDONLY | O_CLOEXEC);
}

void mg_interfaces_close(void)
{
    if (own.descriptor >= 0)
        (void) close(own.descriptor);
    own.descriptor = -1;
}

/* A line's columns are numbers; the first is what was received. */
static void add_columns(const char *columns, struct mg_traffic *carried)
{
    char *at = NULL;

    carried->received_bytes += strtoll(columns, &at, 10);
    for (int column = 1; column < SENT_COLUMN; column++)
        (void) strtoll(at, &at, 10);
    carried->sent_bytes += strtoll(at, NULL, 10);
}

static void add_name(const char *line, int length, struct wanted *wanted)
{
    struct mg_card *card = &wanted->cards[wanted->count++];

    while (*line == ' ') {
        line++;
        length--;
    }
    *card = (struct mg_card){.is_counted = true};
    (void) snprintf(card->name, sizeof card->name, "%.*s", length, line);
}

/* Two lines of headings have no colon. */
static void take_line(const char *line, struct wanted *wanted)
{
    const char *colon = strchr(line, ':');

    if (colon == NULL)
        return;
    add_columns(colon + 1, &wanted->carried);
    if (wanted->count < wanted->room)
        add_name(line, (int) (colon - line), wanted);
}

/* Takes all whole lines; what is left of the text is moved to its begin, and counted. */
static size_t take_lines(char *text, struct wanted *wanted)
{
    char *line = text;

    for (char *end = strchr(line, '\n'); end != NULL; end = strchr(line, '\n')) {
        *end = '\0';
        take_line(line, wanted);
        line = end + 1;
    }
    const size_t left = strlen(line);
    memmove(text, line, left + 1);
    return left;
}

/* False if the file cannot be read to its end. */
static bool take_all(struct wanted *wanted)
{
    char    text[TEXT_BYTES];
    size_t  held  = 0;
    ssize_t count = 0;

    if (own.descriptor < 0 || lseek(own.descriptor, 0, SEEK_SET) != 0)
        return false;
    while ((count = read(own.descriptor, text + held, sizeof text - 1 - held)) > 0) {
        text[held + (size_t) count] = '\0';
        held                        = take_lines(text, wanted);
    }
    return count == 0 && held == 0;
}

bool mg_interfaces_read(struct mg_traffic *carried)
{
    struct wanted wanted = {0};
    const bool    whole  = take_all(&wanted);

    *carried = whole ? wanted.carried : (struct mg_traffic){0};
    return whole;
}

int mg_interfaces_list(struct mg_card *cards, int room)
{
    struct wanted wanted = {.cards = cards, .room = room};

    if (take_all(&wanted) || room == 0)
        return wanted.count;
    *cards = (struct mg_card){0};
    (void) snprintf(cards->name, sizeof cards->name, "%s", file_name);
    return 1;
}
