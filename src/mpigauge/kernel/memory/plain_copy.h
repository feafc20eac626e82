/* plain_copy.h - a loop over 64-bit words as one would write it, with and without optimisation. */
#ifndef MG_PLAIN_COPY_H
#define MG_PLAIN_COPY_H

#include <stddef.h>

/* A loop of few instructions takes up to twice as long where it lies across the end of a cache
 * line, and without this that would depend on what else is linked. */
#define MG_ON_A_LINE __attribute__((aligned(64)))

MG_ON_A_LINE void mg_copy_o3(unsigned char *to, const unsigned char *from, size_t bytes);
MG_ON_A_LINE void mg_copy_o0(unsigned char *to, const unsigned char *from, size_t bytes);

#endif
