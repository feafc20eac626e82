/* net_counters - what the network interfaces have carried: the proof of how messages travelled. */
#include "rounds/net_counters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE_BYTES  = 512,
    SENT_COLUMN = 8, /* after the eight columns of what was received */
};

/* A line's columns are numbers; the first is what was received. */
static void add_line(const char *columns, struct mg_net *net)
{
    char *at = NULL;

    net->received_bytes += strtoll(columns, &at, 10);
    for (int column = 1; column < SENT_COLUMN; column++)
        (void) strtoll(at, &at, 10);
    net->sent_bytes += strtoll(at, NULL, 10);
}

struct mg_net mg_net_carried(void)
{
    char          line[LINE_BYTES];
    struct mg_net net  = {0};
    FILE         *file = fopen("/proc/self/net/dev", "r");

    if (file == NULL)
        return net;
    while (fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':'); /* two lines of headings have none */

        if (colon != NULL)
            add_line(colon + 1, &net);
    }
    (void) fclose(file);
    return net;
}

int64_t mg_net_bytes_since(struct mg_net before)
{
    const struct mg_net now      = mg_net_carried();
    const int64_t       received = now.received_bytes - before.received_bytes;
    const int64_t       sent     = now.sent_bytes - before.sent_bytes;

    return received > sent ? received : sent;
}
