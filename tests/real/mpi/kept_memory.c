/* kept_memory - a visit that is too large for the memory, between two that are not; whether those
 * have the same buffers, and can still write to them. */
#include "memory/payload.h"
#include "patterns/pattern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { SMALL_BYTES = 1 << 16 };

static const size_t        room_bytes = (size_t) 1 << 30;
static const struct rlimit room = {.rlim_cur = (size_t) 1 << 30, .rlim_max = (size_t) 1 << 30};

int main(void)
{
    const struct mg_pattern pattern = {.name = "any"};
    const struct mg_mode    mode    = {.name = "any"};
    struct mg_visit         visit   = {
        .bytes = SMALL_BYTES, .ranks = 1, .window = 1, .pattern = &pattern, .mode = &mode};
    struct mg_state before = {.ranks = 1};
    struct mg_state after  = {.ranks = 1};
    int             slots  = 0;

    if (setrlimit(RLIMIT_AS, &room) != 0 || !mg_payload_reserve(&visit, 0))
        return EXIT_FAILURE;
    mg_payload_prepare(&visit, &before, &slots);
    visit.bytes         = 2 * room_bytes;
    const bool too_much = mg_payload_reserve(&visit, 0);
    (void) mmap(NULL, SMALL_BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); /* a gap's end */
    visit.bytes      = SMALL_BYTES;
    const bool again = mg_payload_reserve(&visit, 0);
    mg_payload_prepare(&visit, &after, &slots);
    (void) printf("%s %s %s\n", too_much ? "all" : "refused", again ? "small" : "nothing",
                  before.send == after.send && before.recv == after.recv ? "same" : "moved");
    return EXIT_SUCCESS;
}
