/* net_counters.h - what the network interfaces have carried: the proof of how messages travelled.
 */
#ifndef MG_NET_COUNTERS_H
#define MG_NET_COUNTERS_H

#include <stdint.h>

/* What all network interfaces of this host, or of its namespace, have carried; 0 if not known. */
struct mg_net {
    int64_t received_bytes;
    int64_t sent_bytes;
};
struct mg_net mg_net_carried(void);

/* Received since then, or sent if that is more: on one host both are the same, but of a stream from
 * here to another host only the acknowledgements come back. */
int64_t mg_net_bytes_since(struct mg_net before);

#endif
