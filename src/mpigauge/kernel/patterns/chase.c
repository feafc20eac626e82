/* chase - pointer chasing: the load latency of a working set.
 *
 * One load per cache line, in the order of a random cycle through all lines, so that nothing can be
 * prefetched.  It uses memory of its own, with huge pages if the system has them. */
#include "memory/content.h"
#include "memory/granularity.h"
#include "patterns/memory.h"
#include "ranks/abort.h"
#include "rounds/sampling.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { UNIT_BYTES = 64, STEPS = 1024 };

/* The beginning of a cache line. */
struct line {
    struct line *next;
};

static struct {
    struct line *lines;
    size_t       lines_bytes; /* of the mapping */
    size_t       count;       /* in the cycle */
    bool         checked;     /* that the cycle visits all of them */
    struct line *volatile at;
} cycle;

static void make_room(size_t bytes)
{
    if (bytes <= cycle.lines_bytes)
        return;
    if (cycle.lines != NULL)
        (void) munmap(cycle.lines, cycle.lines_bytes);
    cycle.lines = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (cycle.lines == MAP_FAILED)
        MG_DIE("no memory for a working set of %zu B", bytes);
    (void) madvise(cycle.lines, bytes, MADV_HUGEPAGE);
    cycle.lines_bytes = bytes;
    cycle.count       = 0;
}

static struct line *line_at(size_t i)
{
    return (struct line *) (void *) ((unsigned char *) cycle.lines + i * mg_line_bytes());
}

/* A random cycle through all lines (Sattolo's shuffle), the same for every launch of a size. */
static void link_cycle(size_t count)
{
    uint32_t *order = malloc(count * sizeof *order);

    if (order == NULL || count > UINT32_MAX)
        MG_DIE("no memory to shuffle %zu lines", count);
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t) i;
    for (size_t i = count - 1; i > 0; i--) {
        const size_t   other = mg_content_word((int64_t) count, 0, i) % i;
        const uint32_t kept  = order[i];

        order[i]     = order[other];
        order[other] = kept;
    }
    for (size_t i = 0; i < count; i++)
        line_at(i)->next = line_at(order[i]);
    free(order);
    cycle.count   = count;
    cycle.checked = false;
}

/* Kept between visits of the same size; the first steps of a visit warm the caches again. */
static void begin(struct mg_state *state)
{
    const size_t lines = state->bytes / mg_line_bytes();
    const size_t count = lines > 0 ? lines : 1;

    make_room(count * mg_line_bytes());
    if (cycle.count != count)
        link_cycle(count);
    cycle.at = cycle.lines;
    for (size_t i = 0; i < cycle.count; i++)
        cycle.at = cycle.at->next;
}

static void call(struct mg_state *state)
{
    struct line *here = cycle.at;

    (void) state;
    for (int i = 0; i < STEPS; i++)
        here = here->next;
    cycle.at = here;
}

static bool check(const struct mg_state *state, char *error, size_t error_bytes)
{
    const struct line *here    = cycle.lines;
    size_t             visited = 0;

    if (cycle.checked)
        return true;
    do {
        here = here->next;
        visited++;
    } while (here != cycle.lines && visited <= cycle.count);
    cycle.checked = visited == cycle.count;
    if (cycle.checked)
        return true;
    (void) snprintf(error, error_bytes, "the cycle through %zu B has %zu lines instead of %zu",
                    state->bytes, visited, cycle.count);
    return false;
}

const struct mg_pattern mg_chase = {
    .name         = "chase",
    .about        = "loads that depend on each other, in random order over a working set",
    .time_of      = "one load; the size is that of the working set",
    .family       = MG_MEMORY,
    .sampling     = &mg_sampling_chained,
    .min_ranks    = 1,
    .active_ranks = 1,
    .trips        = STEPS,
    .least_ns     = MG_MEMORY_MIN_NS,
    .spans_bytes  = true,
    .unit_bytes   = UNIT_BYTES,
    .check        = check,
    .modes        = MG_MODES({.name          = "standard",
                              .about         = "one load a cache line",
                              .begin         = begin,
                              .call          = call,
                              .directions    = 1,
                              .binds_buffers = true}),
};
