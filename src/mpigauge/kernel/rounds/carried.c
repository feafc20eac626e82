/* carried - what the cards of all hosts of a visit have carried while its operation was repeated.
 */
#include "rounds/carried.h"

#include "ranks/abort.h"
#include "rounds/neighbours.h"

struct mg_carried mg_carried_until_now(const struct mg_visit *visit, const struct mg_state *state)
{
    if (!mg_speaks_for_host(visit, state))
        return (struct mg_carried){0};
    return mg_cards_read();
}

void mg_carried_since(const struct mg_visit *visit, const struct mg_state *state,
                      const struct mg_carried *earlier, struct mg_outcome *outcome)
{
    const struct mg_carried later   = mg_carried_until_now(visit, state);
    const struct mg_carried carried = mg_cards_between(earlier, &later);

    outcome->ip_received_bytes   = carried.ip.received_bytes;
    outcome->ip_sent_bytes       = carried.ip.sent_bytes;
    outcome->rdma_received_bytes = carried.rdma.received_bytes;
    outcome->rdma_sent_bytes     = carried.rdma.sent_bytes;
    outcome->uncounted_cards     = carried.uncounted;
}

/* Of rank 0's host, received or sent if that is more: on one host both are the same, but of a
 * stream from here to another host only the acknowledgements come back. */
static int64_t more_of_both(const struct mg_outcome *outcome)
{
    return outcome->ip_received_bytes > outcome->ip_sent_bytes ? outcome->ip_received_bytes
                                                               : outcome->ip_sent_bytes;
}

void mg_carried_tell(const struct mg_state *state, struct mg_outcome *outcome)
{
    enum { IP_RECEIVED, IP_SENT, RDMA_RECEIVED, RDMA_SENT, UNCOUNTED, COUNTS };
    const int64_t here[COUNTS] = {
        [IP_RECEIVED] = outcome->ip_received_bytes,     [IP_SENT] = outcome->ip_sent_bytes,
        [RDMA_RECEIVED] = outcome->rdma_received_bytes, [RDMA_SENT] = outcome->rdma_sent_bytes,
        [UNCOUNTED] = outcome->uncounted_cards,
    };
    int64_t all[COUNTS] = {0};

    outcome->net_bytes = more_of_both(outcome);
    MG_MPI(MPI_Reduce(here, all, COUNTS, MPI_INT64_T, MPI_SUM, 0, state->comm));
    outcome->ip_received_bytes   = all[IP_RECEIVED];
    outcome->ip_sent_bytes       = all[IP_SENT];
    outcome->rdma_received_bytes = all[RDMA_RECEIVED];
    outcome->rdma_sent_bytes     = all[RDMA_SENT];
    outcome->uncounted_cards     = all[UNCOUNTED];
}
