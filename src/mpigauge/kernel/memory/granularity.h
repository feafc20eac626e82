/* granularity.h - the pieces in which this machine has its memory. */
#ifndef MG_GRANULARITY_H
#define MG_GRANULARITY_H

#include <stddef.h>

/* No page and no line is larger: for timed code, which must not ask. */
enum { MG_PAGE_MOST_BYTES = 65536, MG_LINE_MOST_BYTES = 256 };

/* Of one page: 4 KiB, on some Arm and POWER systems 64 KiB. */
size_t mg_page_bytes(void);

/* Of one cache line, and at least 64: POWER and Apple have 128, A64FX 256.  Asked once. */
size_t mg_line_bytes(void);

/* The same of a system below another root; for tests. */
size_t mg_line_bytes_at(const char *root);

#endif
