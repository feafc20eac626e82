/* visit_line.h - the journal line of a finished visit, and the list of its fields. */
#ifndef MG_VISIT_LINE_H
#define MG_VISIT_LINE_H

#include "rounds/visits.h"
#include "traffic/traffic.h"

#include <stdbool.h>
#include <stdint.h>

/* Types of fields. */
typedef int64_t     mg_number;
typedef bool        mg_truth;
typedef double      mg_real;
typedef const char *mg_text;

typedef struct {
    const int64_t *values;
    int            count;
} mg_numbers;

typedef struct {
    const double *values;
    int           count;
} mg_reals;

/* Written as the indices of those that are true. */
typedef struct {
    const bool *values;
    int         count;
} mg_flags;

struct mg_listed_card {
    int                    rank; /* a world rank on its host */
    struct mg_card_traffic card;
};

typedef struct {
    const struct mg_listed_card *values;
    int                          count;
} mg_cards;

/* Type, name, and condition of every field, in order.  To add a field, add a row here, and fill it
 * in visit.c. */
#define MG_VISIT_FIELDS(FIELD)                                                                     \
    FIELD(number, at_ns, true)                                                                     \
    FIELD(number, elapsed_ns, true)                                                                \
    FIELD(number, batch, true) /* calls between two stamps */                                      \
    FIELD(number, ops, true)   /* reported operations in one sample: batch * trips */              \
    FIELD(number, window, true)                                                                    \
    FIELD(number, pool_bytes, true)                                                                \
    FIELD(number, cpu_ns, true) /* all ranks of the group, over the samples; -1 = not known */     \
    FIELD(real, correlation_time, true)                                                            \
    FIELD(real, effective, true)                                                                   \
    FIELD(real, half_width, isfinite(outcome->half_width))                                         \
    FIELD(truth, verified, true) /* its content was compared */                                    \
    /* by the IP interfaces of rank 0's host in net_calls calls; then by all hosts of the visit */ \
    FIELD(number, net_bytes, outcome->net_calls > 0)                                               \
    FIELD(number, net_calls, true)                                                                 \
    FIELD(number, ip_received_bytes, outcome->net_calls > 0)                                       \
    FIELD(number, ip_sent_bytes, outcome->net_calls > 0)                                           \
    FIELD(number, rdma_received_bytes, outcome->net_calls > 0)                                     \
    FIELD(number, rdma_sent_bytes, outcome->net_calls > 0)                                         \
    FIELD(number, uncounted_cards, outcome->net_calls > 0)                                         \
    FIELD(cards, by_card, outcome->net_calls > 0 && outcome->by_card.count > 0)                    \
    FIELD(text, corrupt, outcome->corrupt != NULL)    /* what was wrong with the payload */        \
    FIELD(reals, line_ns, outcome->line_ns.count > 0) /* before the samples, and after them */     \
    FIELD(reals, line_worst_ns, outcome->line_worst_ns.count > 0)                                  \
    FIELD(reals, path_ns, outcome->path_ns.count > 0)                                              \
    FIELD(reals, alu_ns, outcome->alu_ns.count > 0)                                                \
    FIELD(reals, issue_ns, outcome->issue_ns.count > 0)                                            \
    FIELD(number, switches, true) /* this and what follows: during the samples; -1 = not known */  \
    FIELD(number, wait_ns, true)                                                                   \
    FIELD(number, steal_ns, true)                                                                  \
    FIELD(number, moves, true)                                                                     \
    FIELD(number, retransmits, outcome->path_ns.count > 0)                                         \
    FIELD(number, backwards, outcome->backwards > 0) /* times below 0, written as 0 */             \
    FIELD(numbers, trial_ns, true) /* single rounds, the first of the cell in this launch first */ \
    FIELD(numbers, warmup_ns, true)                                                                \
    FIELD(number, work_ns, outcome->pure_ns.count > 0)  /* the computation of its mode alone */    \
    FIELD(numbers, pure_ns, outcome->pure_ns.count > 0) /* the same rounds without it */           \
    FIELD(number, lead_ns, outcome->late.values != NULL)                                           \
    FIELD(flags, late, outcome->late.values != NULL)                                               \
    FIELD(flags, behind, outcome->late.values != NULL)                                             \
    FIELD(numbers, skew_ns, outcome->late.values != NULL)                                          \
    FIELD(numbers, root_ns, outcome->late.values != NULL)                                          \
    FIELD(numbers, local_ns, outcome->late.values != NULL)                                         \
    FIELD(numbers, rank_ns, outcome->rank_ns.count > 0) /* by rank; medians over the samples */    \
    FIELD(numbers, samples_ns, true)

#define MG_VISIT_MEMBER(kind, name, when) mg_##kind name;
struct mg_outcome {
    MG_VISIT_FIELDS(MG_VISIT_MEMBER)
};
#undef MG_VISIT_MEMBER

void mg_journal_visit(const struct mg_visit *visit, const struct mg_outcome *outcome);

#endif
