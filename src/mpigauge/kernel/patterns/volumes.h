/* volumes.h - what a pattern's operation is about, and needs. */
#ifndef MG_VOLUMES_H
#define MG_VOLUMES_H

#include "patterns/pattern.h"

#include <stddef.h>

/* Of one rank: what one message, or the blocks for all ranks together, take up. */
struct mg_volume mg_volume_sent(const struct mg_pattern *pattern);
struct mg_volume mg_volume_received(const struct mg_pattern *pattern);

/* Of whole blocks. */
size_t mg_volume_bytes(struct mg_volume volume, int ranks, size_t bytes);

/* What its rate counts, in each direction, and what its bus bandwidth counts: all 0 if it has none.
 */
struct mg_volume mg_volume_operation(const struct mg_pattern *pattern);
struct mg_volume mg_volume_bus(const struct mg_pattern *pattern);

#endif
