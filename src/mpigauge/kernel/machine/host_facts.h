/* host_facts.h - facts of the host that a rank runs on. */
#ifndef MG_HOST_FACTS_H
#define MG_HOST_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MG_HOST_TEXT_BYTES = 128, MG_HOST_WORD_BYTES = 32 };

/* Texts are as the system has them, and empty if not known. */
struct mg_host_facts {
    char    cpu[MG_HOST_TEXT_BYTES];    /* model of the processor */
    char    system[MG_HOST_TEXT_BYTES]; /* release of the operating system's kernel */
    char    microcode[MG_HOST_WORD_BYTES];
    char    online[MG_HOST_WORD_BYTES]; /* processors: "0-31" */
    char    governor[MG_HOST_WORD_BYTES];
    char    clock_source[MG_HOST_WORD_BYTES];
    int64_t cache_bytes;  /* the largest cache of its first processor; 0 if not known */
    int64_t memory_bytes; /* 0 if not known */
};

struct mg_host_facts mg_host_facts_read(void);

/* The model of the processor, from a file like /proc/cpuinfo: its name, or numbers whose name
 * Python knows; text stays empty if there is neither. */
void mg_cpu_model(const char *cpuinfo, char *text, size_t bytes);

/* Whether a debugger or tracer is attached to this process, which may stop at each system call. */
bool mg_is_traced(void);

#endif
