/* affinity - the processors that this rank may run on, and the cores behind them. */
#include "ranks/affinity.h"

#include "text/small_file.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LIST_BYTES  = 64,
    NAME_BYTES  = 96,
    RANGE_BYTES = 24 /* at least the longest, ",1022-1023" */
};

static void add(struct mg_cpus *cpus, int cpu)
{
    cpus->words[cpu / 64] |= UINT64_C(1) << (cpu % 64);
}

int mg_cpus_next(const struct mg_cpus *cpus, int from)
{
    for (int word = from / 64; word < MG_CPUS_WORDS; word++) {
        uint64_t left = cpus->words[word];

        if (word == from / 64)
            left &= ~UINT64_C(0) << (from % 64);
        if (left != 0)
            return 64 * word + __builtin_ctzll(left);
    }
    return -1;
}

struct mg_cpus mg_cpus_allowed(void)
{
    union {
        cpu_set_t     set;
        unsigned char bytes[MG_CPUS_MAX / 8];
    } mask;
    struct mg_cpus cpus = {0};

    memset(&mask, 0, sizeof mask);
    if (sched_getaffinity(0, sizeof mask, &mask.set) != 0)
        return cpus;
    for (int cpu = 0; cpu < MG_CPUS_MAX; cpu++)
        if (CPU_ISSET_S((size_t) cpu, sizeof mask, &mask.set))
            add(&cpus, cpu);
    return cpus;
}

/* The first hardware thread of a processor's core; -1 if the system does not say. */
static int first_sibling(int cpu)
{
    char  name[NAME_BYTES];
    char  list[LIST_BYTES] = "";
    char *end              = NULL;

    (void) snprintf(name, sizeof name, "sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
                    cpu);
    mg_small_file_line("", name, list, sizeof list);
    const long first = strtol(list, &end, 10);
    return end != list && first >= 0 && first < MG_CPUS_MAX ? (int) first : -1;
}

struct mg_cpus mg_cpus_cores(const struct mg_cpus *cpus)
{
    struct mg_cpus cores = {0};

    for (int cpu = mg_cpus_next(cpus, 0); cpu >= 0; cpu = mg_cpus_next(cpus, cpu + 1)) {
        const int first = first_sibling(cpu);

        if (first < 0)
            return (struct mg_cpus){0};
        add(&cores, first);
    }
    return cores;
}

void mg_cpus_text(const struct mg_cpus *cpus, char *text, size_t bytes)
{
    static const char more[] = ",...";
    size_t            at     = 0;

    text[0] = '\0';
    for (int cpu = mg_cpus_next(cpus, 0); cpu >= 0;) {
        if (at + RANGE_BYTES + sizeof more > bytes) {
            (void) snprintf(text + at, bytes - at, "%s", more);
            return;
        }
        int last = cpu;

        while (mg_cpus_next(cpus, last + 1) == last + 1)
            last++;
        at += (size_t) snprintf(text + at, bytes - at, last > cpu ? "%s%d-%d" : "%s%d",
                                at > 0 ? "," : "", cpu, last);
        cpu = mg_cpus_next(cpus, last + 1);
    }
}
