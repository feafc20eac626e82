/* rooted_memory RANK - how much memory a rank has for a gather to rank 0, in MiB: of its usual
 * form, of one that needs room everywhere, and with a root that moves on; and how much address
 * space it took at most while room was made for visits of growing sizes, beside the end's. */
#include "memory/payload.h"
#include "patterns/pattern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 1 << 20, RANKS = 16, SIZES = 5, KIB = 1024 };

/* A line of /proc/self/status, in KiB. */
static long status(const char *name)
{
    FILE *file = fopen("/proc/self/status", "r");
    char  line[256];
    long  kib = 0;

    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            kib = strtol(line + strlen(name), NULL, 10);
    if (file != NULL)
        (void) fclose(file);
    return kib;
}

static long reserved_kib(const struct mg_visit *visit, int rank)
{
    const long before = status("VmRSS:");

    if (!mg_payload_reserve(visit, rank))
        return -1;
    const long after = status("VmRSS:");
    mg_payload_free();
    return after - before;
}

static void grow(const struct mg_visit *like)
{
    struct mg_visit visits[SIZES];
    struct mg_plan  plan = {.ranks = RANKS, .visits_count = SIZES, .visits = visits};

    for (int i = 0; i < SIZES; i++) {
        visits[i]       = *like;
        visits[i].bytes = (size_t) BYTES * (size_t) (i + 1);
    }
    mg_payload_reserve_all(&plan, 0);
    (void) printf("%ld %ld\n", status("VmPeak:") / KIB, status("VmSize:") / KIB);
    mg_payload_free();
}

int main(int argc, char **argv)
{
    const int               rank    = argc > 1 ? (int) strtol(argv[1], NULL, 10) : 0;
    const struct mg_pattern pattern = {.name = "gather", .recv_each = true, .rooted = true};
    const struct mg_mode    usual   = {.name = "usual"};
    const struct mg_mode    spread  = {.name = "spread", .room_everywhere = true};
    struct mg_visit         visit   = {.bytes   = BYTES,
                                       .ranks   = RANKS,
                                       .window  = 1,
                                       .pattern = &pattern,
                                       .mode    = &usual,
                                       .step    = -1};

    (void) printf("%ld ", reserved_kib(&visit, rank) / KIB);
    visit.mode = &spread;
    (void) printf("%ld ", reserved_kib(&visit, rank) / KIB);
    visit.mode = &usual;
    visit.root = -1;
    (void) printf("%ld\n", reserved_kib(&visit, rank) / KIB);
    visit.root = 0;
    grow(&visit);
    return EXIT_SUCCESS;
}
