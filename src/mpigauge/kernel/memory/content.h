/* content.h - what is in messages: known to everybody, and different at every place. */
#ifndef MG_CONTENT_H
#define MG_CONTENT_H

#include <stddef.h>
#include <stdint.h>

/* Word i of what a rank sends in a visit. */
uint64_t mg_content_word(int64_t visit, int rank, size_t i);

/* What `rank` sends, from a place on. */
void mg_content_fill(unsigned char *data, size_t bytes, int64_t visit, int rank, size_t from);

/* Where data stops being what `rank` sent from a place on, or bytes if it never does. */
size_t mg_content_differs(const unsigned char *data, size_t bytes, int64_t visit, int rank,
                          size_t from);

#endif
