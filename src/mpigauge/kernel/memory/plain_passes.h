/* plain_passes.h - one pass over memory that only reads, and one that only writes. */
#ifndef MG_PLAIN_PASSES_H
#define MG_PLAIN_PASSES_H

#include <stddef.h>
#include <stdint.h>

/* The sum of all 64-bit words, wrapping around. */
uint64_t mg_sum_words(const unsigned char *data, size_t bytes);

/* One value into all 64-bit words. */
void mg_set_words(unsigned char *data, size_t bytes, uint64_t value);

#endif
