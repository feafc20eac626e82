/* machine.h - what machine a rank is on. */
#ifndef MG_MACHINE_H
#define MG_MACHINE_H

#include <stdint.h>

enum { MG_MACHINE_WORDS = 128 };

struct mg_machine {
    char    cpu[MG_MACHINE_WORDS];    /* model of its processor; empty if the system does not say */
    char    system[MG_MACHINE_WORDS]; /* release of the operating system's kernel */
    int64_t cache_bytes;              /* the largest cache of its first processor; 0 if not known */
};

struct mg_machine mg_machine_here(void);

#endif
