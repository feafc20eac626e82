/* kinds - kinds of memory: that of the host is the only one. */
#include "memory/kinds.h"

#include "memory/content.h"

#include <string.h>
#include <sys/mman.h>

/* Not constant, and normal floating-point numbers, since arithmetic with arbitrary bits could be
 * slower in a cold walk, which reads what nobody has written. */
static void fill_with_numbers(unsigned char *data, size_t bytes)
{
    for (size_t i = 0; (i + 1) * sizeof(double) <= bytes; i++)
        ((double *) (void *) data)[i] = 1.0 + (double) (i % 16) / 16;
}

static unsigned char *map(size_t bytes)
{
    void *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (data == MAP_FAILED)
        return NULL;
    fill_with_numbers(data, bytes);
    return data;
}

static void unmap(unsigned char *data, size_t bytes)
{
    (void) munmap(data, bytes);
}

static void poison(unsigned char *data, size_t bytes)
{
    memset(data, MG_POISON, bytes);
}

static unsigned char byte_at(const unsigned char *data)
{
    return *data;
}

static const struct mg_memory host = {
    .name            = "host",
    .allocate        = map,
    .release         = unmap,
    .fill            = mg_content_fill,
    .differs         = mg_content_differs,
    .fill_elements   = mg_elements_fill,
    .elements_differ = mg_elements_differ,
    .poison          = poison,
    .byte_at         = byte_at,
};

const struct mg_memory *mg_memory_of(const struct mg_visit *visit)
{
    (void) visit;
    return &host;
}
