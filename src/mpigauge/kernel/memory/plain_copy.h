/* plain_copy.h - a loop over 64-bit words as one would write it, with and without optimisation. */
#ifndef MG_PLAIN_COPY_H
#define MG_PLAIN_COPY_H

#include <stddef.h>

void mg_copy_o3(unsigned char *to, const unsigned char *from, size_t bytes);
void mg_copy_o0(unsigned char *to, const unsigned char *from, size_t bytes);

#endif
