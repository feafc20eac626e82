/* affinity.h - the processors that this rank may run on, and the cores behind them. */
#ifndef MG_AFFINITY_H
#define MG_AFFINITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MG_CPUS_MOST = 8192, MG_CPUS_WORDS = MG_CPUS_MOST / 64 };

/* A set of processors: of each, a bit. */
struct mg_cpus {
    uint64_t words[MG_CPUS_WORDS];
};

struct mg_cpus mg_cpus_allowed(void); /* empty if the system does not say */

/* Each core by the first of its hardware threads; empty if the system does not list them. */
struct mg_cpus mg_cpus_cores(const struct mg_cpus *cpus);

/* The next processor of a set, from this one on; -1 if there is none. */
int mg_cpus_next(const struct mg_cpus *cpus, int from);

/* In the notation of the kernel's cpulists, "0-3,8", as far as there is room: then with ",..." at
 * its end. */
void mg_cpus_text(const struct mg_cpus *cpus, char *text, size_t bytes);

#endif
