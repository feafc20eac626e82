/* rdma_cards - traffic of the RDMA cards of this host.
 *
 * RDMA traffic is not in the counters of IP interfaces.  IP traffic may be in those of RDMA cards:
 * IP over InfiniBand and the IP interface of a Slingshot card count in both, so the two must not be
 * added. */
#include "traffic/rdma_cards.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    PORTS_MAX    = 64,
    PARTS        = 2, /* counters per direction: IPv4 and IPv6 */
    RECEIVED     = 0,
    SENT         = 1,
    DIRECTIONS   = 2,
    VALUE_BYTES  = 64,
    LIFESPAN_MS  = 10, /* the default of Linux */
    LIFESPAN_MAX = 50, /* ms: a virtual card may update once a second, and visits are shorter */
};

static const int64_t not_known = -1;
static const int64_t ns_per_ms = 1000000;

/* Where a port may have its counters.  The kernel caches those of `hw_counters` for their lifespan.
 */
struct source {
    const char *files[DIRECTIONS][PARTS];
    int         unit_bytes;
    bool        is_cached;
    bool        saturates; /* at 32 bits, on old cards */
};

/* To add a card: a row here, one in the table of docs/method-memory.md#transports, and a tree of
 * its files in tests/unit/cards. */
static const struct source sources[] = {
    /* InfiniBand, RoCE of Mellanox, Omni-Path */
    {{{"counters/port_rcv_data"}, {"counters/port_xmit_data"}}, 4, false, true},
    /* EFA, RoCE of Broadcom */
    {{{"hw_counters/rx_bytes"}, {"hw_counters/tx_bytes"}}, 1, true, false},
    /* RoCE and iWARP of Intel */
    {{{"hw_counters/ip4InOctets", "hw_counters/ip6InOctets"},
      {"hw_counters/ip4OutOctets", "hw_counters/ip6OutOctets"}},
     1,
     true,
     false},
    /* Slingshot */
    {{{"hni_sts_rx_ok_octets"}, {"hni_sts_tx_ok_octets"}}, 1, false, false},
};

struct port {
    char                 name[MG_CARD_NAME_BYTES];
    const struct source *source; /* NULL = it cannot be counted */
    bool                 was_counted;
    int                  descriptors[DIRECTIONS][PARTS];
};

static struct {
    struct port ports[PORTS_MAX];
    int         count;
    int         dropped;     /* ports that there is no room for */
    int         lifespan_ms; /* the longest of those that are read */
} own;

/* ---- A counter ------------------------------------------------------------------------------- */

/* `123`, `123@seconds` on Slingshot, or `N/A (no PMA)` without counters. */
static int64_t value_of(int descriptor, bool saturates)
{
    char          text[VALUE_BYTES];
    const ssize_t count = pread(descriptor, text, sizeof text - 1, 0);

    if (count <= 0)
        return not_known;
    text[count] = '\0';
    if (!isdigit((unsigned char) text[0]))
        return not_known;
    const unsigned long long value = strtoull(text, NULL, 10);
    return (saturates && value == UINT32_MAX) || value > INT64_MAX ? not_known : (int64_t) value;
}

/* Bytes of a port in one direction. */
static int64_t bytes_of(const struct port *port, int direction)
{
    int64_t bytes = 0;

    for (int part = 0; part < PARTS && port->source->files[direction][part] != NULL; part++) {
        const int64_t value = value_of(port->descriptors[direction][part], port->source->saturates);

        if (value < 0)
            return not_known;
        bytes += value * port->source->unit_bytes;
    }
    return bytes;
}

/* ---- A port ---------------------------------------------------------------------------------- */

static int open_file(const char *folder, const char *name)
{
    char path[PATH_MAX];

    (void) snprintf(path, sizeof path, "%s/%s", folder, name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static void close_files(struct port *port)
{
    for (int direction = 0; port->source != NULL && direction < DIRECTIONS; direction++)
        for (int part = 0; part < PARTS && port->source->files[direction][part] != NULL; part++)
            if (port->descriptors[direction][part] >= 0)
                (void) close(port->descriptors[direction][part]);
    port->source = NULL;
}

/* How long the kernel caches hw_counters. */
static int lifespan_ms(const char *folder)
{
    const int     descriptor = open_file(folder, "hw_counters/lifespan");
    const int64_t value      = descriptor >= 0 ? value_of(descriptor, false) : LIFESPAN_MS;

    if (descriptor >= 0)
        (void) close(descriptor);
    return value < 0 ? LIFESPAN_MS : value > INT_MAX ? INT_MAX : (int) value;
}

static bool is_countable(struct port *port, const struct source *source, const char *folder)
{
    const int held_ms = source->is_cached ? lifespan_ms(folder) : 0;

    port->source = source;
    for (int direction = 0; direction < DIRECTIONS; direction++)
        for (int part = 0; part < PARTS && source->files[direction][part] != NULL; part++)
            port->descriptors[direction][part] = open_file(folder, source->files[direction][part]);
    if (held_ms <= LIFESPAN_MAX && bytes_of(port, RECEIVED) >= 0 && bytes_of(port, SENT) >= 0) {
        own.lifespan_ms = held_ms > own.lifespan_ms ? held_ms : own.lifespan_ms;
        return true;
    }
    close_files(port);
    return false;
}

/* folder: with its counters; NULL if there is none. */
static void add_port(const char *name, const char *folder)
{
    const int kinds = (int) (sizeof sources / sizeof *sources);

    if (own.count == PORTS_MAX) {
        own.dropped++;
        return;
    }
    struct port *port = &own.ports[own.count++];
    *port             = (struct port){0};
    mg_card_name(port->name, name, (int) strlen(name));
    for (int kind = 0; folder != NULL && !port->was_counted && kind < kinds; kind++)
        port->was_counted = is_countable(port, &sources[kind], folder);
}

/* ---- All of them ----------------------------------------------------------------------------- */

static int is_not_hidden(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void add_ports(const char *card, const char *folder)
{
    struct dirent **entries = NULL;
    char            path[PATH_MAX];
    char            name[PATH_MAX];

    (void) snprintf(path, sizeof path, "%s/ports", folder);
    const int count = scandir(path, &entries, is_not_hidden, alphasort);
    for (int i = 0; i < count; i++) {
        (void) snprintf(path, sizeof path, "%s/ports/%s", folder, entries[i]->d_name);
        (void) snprintf(name, sizeof name, "%s/%s", card, entries[i]->d_name);
        add_port(name, path);
        free(entries[i]);
    }
    free((void *) entries);
    if (count <= 0)
        add_port(card, NULL);
}

static void add_slingshot(const char *card, const char *folder)
{
    char path[PATH_MAX];

    (void) snprintf(path, sizeof path, "%s/device/telemetry", folder);
    add_port(card, path);
}

/* No folder of a class means no cards of it; one that cannot be read counts as a card that cannot
 * be counted. */
static void add_class(const char *root, const char *class,
                      void (*add)(const char *card, const char *folder))
{
    struct dirent **entries = NULL;
    char            path[PATH_MAX];
    char            folder[PATH_MAX + NAME_MAX + 2];

    (void) snprintf(path, sizeof path, "%s%s", root, class);
    const int count = scandir(path, &entries, is_not_hidden, alphasort);
    if (count < 0 && errno != ENOENT)
        add_port(class, NULL);
    for (int i = 0; i < count; i++) {
        (void) snprintf(folder, sizeof folder, "%s/%s", path, entries[i]->d_name);
        add(entries[i]->d_name, folder);
        free(entries[i]);
    }
    free((void *) entries);
}

/* Without /sys, as in some containers, there may be cards that are not visible. */
static bool has_classes(const char *root)
{
    char path[PATH_MAX];

    (void) snprintf(path, sizeof path, "%s/sys/class", root);
    return access(path, R_OK | X_OK) == 0;
}

void mg_rdma_open(const char *root)
{
    mg_rdma_close();
    if (!has_classes(root)) {
        add_port("/sys/class", NULL);
        return;
    }
    add_class(root, "/sys/class/infiniband", add_ports);
    add_class(root, "/sys/class/cxi", add_slingshot);
}

void mg_rdma_close(void)
{
    for (int i = 0; i < own.count; i++)
        close_files(&own.ports[i]);
    own.count = own.dropped = own.lifespan_ms = 0;
}

/* Sleeps until no value cached before now is returned. */
static void wait_until_fresh(int lifespan_ms)
{
    const struct timespec time = {.tv_nsec = lifespan_ms * ns_per_ms};

    if (lifespan_ms > 0)
        (void) nanosleep(&time, NULL);
}

/* A port that fails once is not counted any more, since later values have nothing to compare with.
 */
static bool read_port(struct port *port, struct mg_traffic *traffic)
{
    const bool    known    = port->source != NULL;
    const int64_t received = known ? bytes_of(port, RECEIVED) : not_known;
    const int64_t sent     = known ? bytes_of(port, SENT) : not_known;

    if (received >= 0 && sent >= 0) {
        *traffic = (struct mg_traffic){received, sent};
        return true;
    }
    close_files(port);
    return false;
}

static void add_card(const struct port *port, const struct mg_traffic *traffic,
                     struct mg_card_list *each)
{
    struct mg_card_traffic *card = port->was_counted ? mg_card_list_add(each) : NULL;

    if (card == NULL)
        return;
    *card = (struct mg_card_traffic){
        .is_rdma = true, .is_counted = port->source != NULL, .traffic = *traffic};
    (void) snprintf(card->name, sizeof card->name, "%s", port->name);
}

int mg_rdma_lifespan_ms(void)
{
    return own.lifespan_ms;
}

int mg_rdma_read(struct mg_traffic *traffic, struct mg_card_list *each)
{
    int uncounted = own.dropped;

    *traffic = (struct mg_traffic){0};
    wait_until_fresh(own.lifespan_ms);
    for (int i = 0; i < own.count; i++) {
        struct mg_traffic here = {0};

        uncounted += !read_port(&own.ports[i], &here);
        traffic->received_bytes += here.received_bytes;
        traffic->sent_bytes += here.sent_bytes;
        add_card(&own.ports[i], &here, each);
    }
    return uncounted;
}

int mg_rdma_list(struct mg_card *cards, int room)
{
    const int count = own.count < room ? own.count : room;

    for (int i = 0; i < count; i++) {
        cards[i] = (struct mg_card){.is_rdma = true, .is_counted = own.ports[i].source != NULL};
        (void) snprintf(cards[i].name, sizeof cards[i].name, "%s", own.ports[i].name);
    }
    return count;
}
