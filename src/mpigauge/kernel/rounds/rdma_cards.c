/* rdma_cards - what the cards of this host have carried that know RDMA.
 *
 * Their traffic is not in the counters of IP.  The other way round it may be: of IP over
 * InfiniBand, or of the IP interface of a Slingshot card, both count, so nobody may add the two. */
#include "rounds/rdma_cards.h"

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
    PORTS_MOST    = 64,
    PARTS         = 2, /* of what went one way: IPv4 and IPv6 */
    RECEIVED      = 0,
    SENT          = 1,
    WAYS          = 2,
    VALUE_BYTES   = 64,
    LIFESPAN_MS   = 10, /* the system's own, where it does not say */
    LIFESPAN_MOST = 50, /* ms: a virtual card may be asked once a second, and visits are shorter */
};

static const int64_t not_known = -1;
static const int64_t ns_per_ms = 1000000;

/* Where a port may have its counters.  Those of `hw_counters` are held back: who asks twice within
 * a lifespan gets one answer. */
struct source {
    const char *files[WAYS][PARTS];
    int         unit_bytes;
    bool        is_held_back;
    bool        stops; /* at the largest number of 32 bit, on old cards */
};

/* To add a card: a row here, one in the table of docs/method.md#transports, and a tree of its files
 * in tests/unit/cards. */
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
    int                  descriptors[WAYS][PARTS];
};

static struct {
    struct port ports[PORTS_MOST];
    int         count;
    int         beyond;      /* ports that there is no room for: not counted */
    int         lifespan_ms; /* the longest of those that are read */
} own;

/* ---- A counter ------------------------------------------------------------------------------- */

/* `123`, or `123@seconds` of Slingshot; a card without counters says `N/A (no PMA)`. */
static int64_t value_of(int descriptor, bool stops)
{
    char          text[VALUE_BYTES];
    const ssize_t count = pread(descriptor, text, sizeof text - 1, 0);

    if (count <= 0)
        return not_known;
    text[count] = '\0';
    if (!isdigit((unsigned char) text[0]))
        return not_known;
    const unsigned long long value = strtoull(text, NULL, 10);
    return (stops && value == UINT32_MAX) || value > INT64_MAX ? not_known : (int64_t) value;
}

/* What went one way through a port. */
static int64_t bytes_of(const struct port *port, int way)
{
    int64_t bytes = 0;

    for (int part = 0; part < PARTS && port->source->files[way][part] != NULL; part++) {
        const int64_t value = value_of(port->descriptors[way][part], port->source->stops);

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
    for (int way = 0; port->source != NULL && way < WAYS; way++)
        for (int part = 0; part < PARTS && port->source->files[way][part] != NULL; part++)
            if (port->descriptors[way][part] >= 0)
                (void) close(port->descriptors[way][part]);
    port->source = NULL;
}

/* How long the system gives the same answer. */
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
    const int held_ms = source->is_held_back ? lifespan_ms(folder) : 0;

    port->source = source;
    for (int way = 0; way < WAYS; way++)
        for (int part = 0; part < PARTS && source->files[way][part] != NULL; part++)
            port->descriptors[way][part] = open_file(folder, source->files[way][part]);
    if (held_ms <= LIFESPAN_MOST && bytes_of(port, RECEIVED) >= 0 && bytes_of(port, SENT) >= 0) {
        own.lifespan_ms = held_ms > own.lifespan_ms ? held_ms : own.lifespan_ms;
        return true;
    }
    close_files(port);
    return false;
}

/* folder: of its counters; NULL if there is none. */
static void add_port(const char *name, const char *folder)
{
    const int kinds = (int) (sizeof sources / sizeof *sources);

    if (own.count == PORTS_MOST) {
        own.beyond++;
        return;
    }
    struct port *port = &own.ports[own.count++];
    *port             = (struct port){0};
    mg_card_name(port->name, name, (int) strlen(name));
    for (int kind = 0; folder != NULL && !port->was_counted && kind < kinds; kind++)
        port->was_counted = is_countable(port, &sources[kind], folder);
}

/* ---- All of them ----------------------------------------------------------------------------- */

static int is_no_dot(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void add_ports(const char *card, const char *folder)
{
    struct dirent **entries = NULL;
    char            path[PATH_MAX];
    char            name[PATH_MAX];

    (void) snprintf(path, sizeof path, "%s/ports", folder);
    const int count = scandir(path, &entries, is_no_dot, alphasort);
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

/* Where a class of cards is not there, there are none of it; where it cannot be read, nobody knows.
 */
static void add_class(const char *root, const char *class,
                      void (*add)(const char *card, const char *folder))
{
    struct dirent **entries = NULL;
    char            path[PATH_MAX];
    char            folder[PATH_MAX + NAME_MAX + 2];

    (void) snprintf(path, sizeof path, "%s%s", root, class);
    const int count = scandir(path, &entries, is_no_dot, alphasort);
    if (count < 0 && errno != ENOENT)
        add_port(class, NULL);
    for (int i = 0; i < count; i++) {
        (void) snprintf(folder, sizeof folder, "%s/%s", path, entries[i]->d_name);
        add(entries[i]->d_name, folder);
        free(entries[i]);
    }
    free((void *) entries);
}

/* Without /sys, as in some containers, cards may be there that nobody sees. */
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
    own.count = own.beyond = own.lifespan_ms = 0;
}

/* Until an answer that is older than now has outlived itself. */
static void outlive(int held_ms)
{
    const struct timespec time = {.tv_nsec = held_ms * ns_per_ms};

    if (held_ms > 0)
        (void) nanosleep(&time, NULL);
}

/* A port that fails once is not counted any more: what it says later has no begin. */
static bool read_port(struct port *port, struct mg_traffic *carried)
{
    const bool    known    = port->source != NULL;
    const int64_t received = known ? bytes_of(port, RECEIVED) : not_known;
    const int64_t sent     = known ? bytes_of(port, SENT) : not_known;

    if (received >= 0 && sent >= 0) {
        *carried = (struct mg_traffic){received, sent};
        return true;
    }
    close_files(port);
    return false;
}

static void add_card(const struct port *port, const struct mg_traffic *carried,
                     struct mg_each_card *each)
{
    struct mg_card_traffic *card = port->was_counted ? mg_each_card_add(each) : NULL;

    if (card == NULL)
        return;
    *card = (struct mg_card_traffic){
        .is_rdma = true, .is_counted = port->source != NULL, .carried = *carried};
    (void) snprintf(card->name, sizeof card->name, "%s", port->name);
}

int mg_rdma_held_back_ms(void)
{
    return own.lifespan_ms;
}

int mg_rdma_read(struct mg_traffic *carried, struct mg_each_card *each)
{
    int uncounted = own.beyond;

    *carried = (struct mg_traffic){0};
    outlive(own.lifespan_ms);
    for (int i = 0; i < own.count; i++) {
        struct mg_traffic here = {0};

        uncounted += !read_port(&own.ports[i], &here);
        carried->received_bytes += here.received_bytes;
        carried->sent_bytes += here.sent_bytes;
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
