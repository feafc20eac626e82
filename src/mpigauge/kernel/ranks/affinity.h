/* affinity.h - the processors that this rank may run on, and the cores behind them. */
#ifndef MG_AFFINITY_H
#define MG_AFFINITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MG_CPUS_MAX = 8192, MG_CPUS_WORDS = MG_CPUS_MAX / 64 };

/* A set of processors, one bit each. */
struct mg_cpus {
    uint64_t words[MG_CPUS_WORDS];
};

struct mg_cpus mg_cpus_allowed(void); /* empty if the system does not say */

/* The cores of these processors, each as its first hardware thread; empty if not known. */
struct mg_cpus mg_cpus_cores(const struct mg_cpus *cpus);

/* The first processor of a set that is not below `from`; -1 if there is none. */
int mg_cpus_next(const struct mg_cpus *cpus, int from);

/* Writes a set as the Linux kernel does, "0-3,8"; ",..." stands for what does not fit. */
void mg_cpus_text(const struct mg_cpus *cpus, char *text, size_t bytes);

#endif
