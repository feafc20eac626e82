/* interfaces - traffic of the IP interfaces of this host, or of its network namespace.
 *
 * The file stays open and is read from the start each time: offsets of lines move when a number
 * gets another digit. */
#include "traffic/interfaces.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    TEXT_BYTES  = 4096,
    SENT_COLUMN = 8, /* after eight columns about received packets */
};

static const char file_name[] = "/proc/self/net/dev";

static struct {
    int descriptor; /* -1 = there is none */
} own = {-1};

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

/* The columns of a line are numbers; the first is received bytes. */
static struct mg_traffic traffic_of(const char *columns)
{
    char             *at      = NULL;
    struct mg_traffic traffic = {.received_bytes = strtoll(columns, &at, 10)};

    for (int column = 1; column < SENT_COLUMN; column++)
        (void) strtoll(at, &at, 10);
    traffic.sent_bytes = strtoll(at, NULL, 10);
    return traffic;
}

static void add_card(const char *line, const char *colon, const struct mg_traffic *traffic,
                     struct mg_card_list *each)
{
    struct mg_card_traffic *card = mg_card_list_add(each);

    if (card == NULL)
        return;
    while (*line == ' ')
        line++;
    *card = (struct mg_card_traffic){.is_counted = true, .traffic = *traffic};
    mg_card_name(card->name, line, (int) (colon - line));
}

/* Two lines of headings have no colon. */
static void take_line(const char *line, struct mg_traffic *traffic, struct mg_card_list *each)
{
    const char *colon = strchr(line, ':');

    if (colon == NULL)
        return;
    const struct mg_traffic here = traffic_of(colon + 1);

    traffic->received_bytes += here.received_bytes;
    traffic->sent_bytes += here.sent_bytes;
    add_card(line, colon, &here, each);
}

/* Takes all complete lines and moves the rest to the start; returns the length of the rest. */
static size_t take_lines(char *text, struct mg_traffic *traffic, struct mg_card_list *each)
{
    char *line = text;

    for (char *end = strchr(line, '\n'); end != NULL; end = strchr(line, '\n')) {
        *end = '\0';
        take_line(line, traffic, each);
        line = end + 1;
    }
    const size_t left = strlen(line);
    memmove(text, line, left + 1);
    return left;
}

/* False if the file cannot be read to its end. */
static bool take_all(struct mg_traffic *traffic, struct mg_card_list *each)
{
    char    text[TEXT_BYTES];
    size_t  held  = 0;
    ssize_t count = 0;

    if (own.descriptor < 0 || lseek(own.descriptor, 0, SEEK_SET) != 0)
        return false;
    while ((count = read(own.descriptor, text + held, sizeof text - 1 - held)) > 0) {
        text[held + (size_t) count] = '\0';
        held                        = take_lines(text, traffic, each);
    }
    return count == 0 && held == 0;
}

/* Nothing is kept of a file that cannot be read to its end. */
bool mg_interfaces_read(struct mg_traffic *traffic, struct mg_card_list *each)
{
    const int before = each->count;

    *traffic = (struct mg_traffic){0};
    if (take_all(traffic, each))
        return true;
    *traffic    = (struct mg_traffic){0};
    each->count = before;
    return false;
}

int mg_interfaces_list(struct mg_card *cards, int room)
{
    struct mg_traffic   traffic;
    struct mg_card_list each  = {.count = 0};
    const bool          whole = mg_interfaces_read(&traffic, &each);
    const int           count = whole ? each.count : 1;

    for (int i = 0; i < count && i < room; i++) {
        cards[i] = (struct mg_card){.is_counted = whole};
        (void) snprintf(cards[i].name, sizeof cards[i].name, "%s",
                        whole ? each.cards[i].name : file_name);
    }
    return count < room ? count : room;
}
