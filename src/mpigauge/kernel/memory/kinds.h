/* kinds.h - kinds of memory that buffers of messages are in, each with what is done to it untimed.
 */
#ifndef MG_KINDS_H
#define MG_KINDS_H

#include "memory/reduction.h"

#include <stddef.h>
#include <stdint.h>

struct mg_visit;

enum { MG_POISON = 0xa5 /* what buffers hold where nothing was received */ };

/* `data` is memory of the kind, which the processor need not be able to read. */
struct mg_memory {
    const char *name;

    /* Page-aligned and touched; NULL if there is none. */
    unsigned char *(*allocate)(size_t bytes);
    void (*release)(unsigned char *data, size_t bytes);

    /* As mg_content_fill, mg_content_differs, mg_elements_fill and mg_elements_differ. */
    void (*fill)(unsigned char *data, size_t bytes, int64_t visit, int rank, size_t from);
    size_t (*differs)(const unsigned char *data, size_t bytes, int64_t visit, int rank,
                      size_t from);
    void (*fill_elements)(const struct mg_reduction *reduction, unsigned char *data, size_t count,
                          int rank);
    size_t (*elements_differ)(const struct mg_reduction *reduction, const unsigned char *data,
                              size_t first, size_t count, int source, int ranks);
    void (*poison)(unsigned char *data, size_t bytes);
    unsigned char (*byte_at)(const unsigned char *data);
};

/* The memory that the buffers of a visit are in. */
const struct mg_memory *mg_memory_of(const struct mg_visit *visit);

#endif
