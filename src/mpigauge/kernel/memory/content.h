/* content.h - the content of messages: every rank can compute it, and all parts differ. */
#ifndef MG_CONTENT_H
#define MG_CONTENT_H

#include <stddef.h>
#include <stdint.h>

/* Word i of what a rank sends in a visit, 64 bits. */
uint64_t mg_content_word(int64_t visit, int rank, size_t i);

/* Fills data with what `rank` sends, from byte `from` on. */
void mg_content_fill(unsigned char *data, size_t bytes, int64_t visit, int rank, size_t from);

/* The first byte of data that is not what `rank` sends from byte `from` on, or bytes if all are. */
size_t mg_content_differs(const unsigned char *data, size_t bytes, int64_t visit, int rank,
                          size_t from);

#endif
