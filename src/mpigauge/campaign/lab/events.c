/* events - the queue of events, a heap by time. */
#include "events.h"

#include <stdbool.h>
#include <stddef.h>

static struct lab_event events[LAB_PACKETS];
static uint32_t         event_count;
static uint64_t         events_entered;

static bool before(const struct lab_event *one, const struct lab_event *other)
{
    return one->at_ns != other->at_ns ? one->at_ns < other->at_ns : one->order < other->order;
}

void lab_enter(int64_t at_ns, uint32_t packet)
{
    const struct lab_event event = {at_ns, events_entered++, packet};
    uint32_t               place = event_count++;

    while (place > 0 && before(&event, &events[(place - 1) / 2])) {
        events[place] = events[(place - 1) / 2];
        place         = (place - 1) / 2;
    }
    events[place] = event;
}

struct lab_event lab_take_first(void)
{
    const struct lab_event first = events[0];
    const struct lab_event last  = events[--event_count];
    uint32_t               place = 0;

    for (uint32_t below; (below = 2 * place + 1) < event_count; place = below) {
        if (below + 1 < event_count && before(&events[below + 1], &events[below]))
            below++;
        if (!before(&events[below], &last))
            break;
        events[place] = events[below];
    }
    events[place] = last;
    return first;
}

const struct lab_event *lab_first(void)
{
    return event_count > 0 ? &events[0] : NULL;
}
