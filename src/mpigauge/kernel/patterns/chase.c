/* chase - loads of which each says where the next one goes: the latency of a working set.
 *
 * One load a cache line, in the order of a random cycle through all lines, so that nothing can be
 * fetched ahead.  The memory is its own, with huge pages where the system gives them. */
#include "memory.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { LINE_BYTES = 64, STEPS = 1024 };

struct line {
    struct line *next;
    char         rest[LINE_BYTES - sizeof(struct line *)];
};

static struct line *lines;
static size_t       lines_bytes; /* of the mapping */
static size_t       count;       /* in the cycle */
static bool         checked;     /* that the cycle goes through all of them */
static struct line *volatile at;

static void make_room(size_t bytes)
{
    if (bytes <= lines_bytes)
        return;
    if (lines != NULL)
        (void) munmap(lines, lines_bytes);
    lines = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (lines == MAP_FAILED)
        MG_DIE("no memory for a working set of %zu B", bytes);
    (void) madvise(lines, bytes, MADV_HUGEPAGE);
    lines_bytes = bytes;
    count       = 0;
}

/* A random cycle through all lines (Sattolo's shuffle), the same for every launch of a size. */
static void tie_cycle(void)
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
        lines[i].next = &lines[order[i]];
    free(order);
}

/* Kept between visits of the same size; the first steps of a visit warm the caches again. */
static void begin(struct mg_state *state)
{
    make_room(state->bytes);
    if (count != state->bytes / LINE_BYTES) {
        count = state->bytes / LINE_BYTES;
        tie_cycle();
        checked = false;
    }
    at = lines;
    for (size_t i = 0; i < count; i++)
        at = at->next;
}

static void call(struct mg_state *state)
{
    struct line *here = at;

    (void) state;
    for (int i = 0; i < STEPS; i++)
        here = here->next;
    at = here;
}

static bool check(const struct mg_state *state, char *words, size_t words_bytes)
{
    const struct line *here    = lines;
    size_t             visited = 0;

    if (checked)
        return true;
    do {
        here = here->next;
        visited++;
    } while (here != lines && visited <= count);
    checked = visited == count;
    if (checked)
        return true;
    (void) snprintf(words, words_bytes, "the cycle through %zu B has %zu lines instead of %zu",
                    state->bytes, visited, count);
    return false;
}

const struct mg_pattern mg_chase = {
    .name         = "chase",
    .about        = "loads that depend on each other, in random order over a working set",
    .time_of      = "one load; the size is that of the working set",
    .sampling     = MG_CHAINED,
    .min_ranks    = 1,
    .active_ranks = 1,
    .trips        = STEPS,
    .least_ns     = MG_MEMORY_LEAST_NS,
    .spans_bytes  = true,
    .unit_bytes   = LINE_BYTES,
    .check        = check,
    .modes        = {{.name          = "standard",
                      .about         = "one load a cache line",
                      .begin         = begin,
                      .call          = call,
                      .directions    = 1,
                      .binds_buffers = true}},
};
