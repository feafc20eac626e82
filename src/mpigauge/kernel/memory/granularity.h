/* granularity.h - sizes of pages and cache lines. */
#ifndef MG_GRANULARITY_H
#define MG_GRANULARITY_H

#include <stddef.h>

/* Upper limits, for timed code, which must not ask the system. */
enum { MG_PAGE_MAX_BYTES = 65536, MG_LINE_MAX_BYTES = 256 };

/* 4 KiB; on some Arm and POWER systems 64 KiB. */
size_t mg_page_bytes(void);

/* At least 64; POWER and Apple have 128, A64FX 256.  Read once. */
size_t mg_line_bytes(void);

/* The same, with `root` as a prefix of all paths; for tests. */
size_t mg_line_bytes_at(const char *root);

#endif
