/* volumes - bytes that a pattern sends, receives, and counts in its rates. */
#include "patterns/volumes.h"

static const struct mg_volume none     = {0};
static const struct mg_volume one      = MG_ONE_MESSAGE;
static const struct mg_volume each     = MG_ONE_EACH;
static const struct mg_volume of_pairs = MG_ONE_OF_BOTH;

struct mg_volume mg_volume_sent(const struct mg_pattern *pattern)
{
    return pattern->send_each ? each : one;
}

struct mg_volume mg_volume_received(const struct mg_pattern *pattern)
{
    if (pattern->spans_bytes)
        return none; /* it works on memory of its own */
    return pattern->recv_each ? each : one;
}

struct mg_volume mg_volume_of_call(const struct mg_pattern *pattern, struct mg_volume message)
{
    for (int i = 0; pattern->messages > 0 && i < MG_VOLUME_TERMS; i++)
        message.terms[i] *= pattern->messages;
    return message;
}

size_t mg_volume_bytes(struct mg_volume volume, int ranks, size_t bytes)
{
    double power  = 1.0 / ranks;
    double blocks = 0;

    for (int i = 0; i < MG_VOLUME_TERMS; i++, power *= ranks)
        blocks += volume.terms[i] * power;
    return (size_t) (blocks + 0.5) * bytes;
}

struct mg_volume mg_volume_operation(const struct mg_pattern *pattern)
{
    if (!pattern->moves_bytes || pattern->no_rate || pattern->overhead != MG_OF_NOBODY)
        return none;
    if (pattern->windowed || pattern->messages > 0)
        return mg_volume_of_call(pattern, one);
    if (pattern->one_pair != NULL)
        return of_pairs;
    return pattern->send_each || pattern->recv_each ? each : one;
}

/* The factors of nccl-tests, derived in its doc/PERFORMANCE.md: for any number of ranks the result
 * is comparable with the bandwidth of the hardware. */
struct mg_volume mg_volume_bus(const struct mg_pattern *pattern)
{
    const struct mg_volume operation = mg_volume_operation(pattern);
    struct mg_volume       bus       = none;

    if (pattern->bus == MG_BUS_NONE)
        return none;
    if (pattern->bus == MG_BUS_SAME)
        return operation;
    for (int i = 0; i < MG_VOLUME_TERMS; i++) {
        const double per_rank = i + 1 < MG_VOLUME_TERMS ? operation.terms[i + 1] : 0;

        bus.terms[i] = (pattern->bus == MG_BUS_TWICE ? 2 : 1) * (operation.terms[i] - per_rank);
    }
    return bus;
}
