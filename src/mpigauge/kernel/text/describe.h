/* describe.h - what this kernel can do, as JSON. */
#ifndef MG_DESCRIBE_H
#define MG_DESCRIBE_H

#include <stdio.h>

void mg_describe(FILE *out);

#endif
