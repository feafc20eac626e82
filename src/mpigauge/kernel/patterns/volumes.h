/* volumes.h - bytes that a pattern sends, receives, and counts in its rates. */
#ifndef MG_VOLUMES_H
#define MG_VOLUMES_H

#include "patterns/pattern.h"

#include <stddef.h>

/* Size of one message, or of the blocks of all ranks, on one rank. */
struct mg_volume mg_volume_sent(const struct mg_pattern *pattern);
struct mg_volume mg_volume_received(const struct mg_pattern *pattern);

/* The same of all messages of a call; a window counts as one. */
struct mg_volume mg_volume_of_call(const struct mg_pattern *pattern, struct mg_volume message);

/* In bytes, rounded to whole blocks. */
size_t mg_volume_bytes(struct mg_volume volume, int ranks, size_t bytes);

/* Bytes that its rate counts, per direction, and that its bus bandwidth counts; all 0 if it has
 * none.
 */
struct mg_volume mg_volume_operation(const struct mg_pattern *pattern);
struct mg_volume mg_volume_bus(const struct mg_pattern *pattern);

#endif
