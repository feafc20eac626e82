/* machine.h - what machine a rank is on. */
#ifndef MG_MACHINE_H
#define MG_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MG_MACHINE_WORDS = 128, MG_MACHINE_WORD = 32 };

/* Texts are as the system has them, and empty where it does not say. */
struct mg_machine {
    char    cpu[MG_MACHINE_WORDS];    /* model of its processor */
    char    system[MG_MACHINE_WORDS]; /* release of the operating system's kernel */
    char    microcode[MG_MACHINE_WORD];
    char    online[MG_MACHINE_WORD]; /* its processors: "0-31" */
    char    governor[MG_MACHINE_WORD];
    char    clock_source[MG_MACHINE_WORD];
    int64_t cache_bytes;  /* the largest cache of its first processor; 0 if not known */
    int64_t memory_bytes; /* 0 if not known */
};

struct mg_machine mg_machine_here(void);

/* The model of a processor, from a file like /proc/cpuinfo: its name, or the numbers of which
 * Python knows the name; stays empty where there is neither. */
void mg_cpu_model(const char *cpuinfo, char *text, size_t bytes);

/* Whether a debugger or tracer is attached to this process, which may stop at each system call. */
bool mg_machine_is_traced(void);

#endif
