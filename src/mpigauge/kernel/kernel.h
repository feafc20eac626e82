/* kernel.h - what the files of mpigauge-kernel know of each other: the one header to include.
 *
 * Times are int64_t nanoseconds (_ns), sizes are bytes.  A pattern (patterns/NAME.c) sees only
 * struct mg_state and the calls of calls.h; loop, clock, stop rule and output live elsewhere, once.
 */
#ifndef MG_KERNEL_H
#define MG_KERNEL_H

#include "clock.h"
#include "journal.h"
#include "pattern.h"
#include "payload.h"
#include "plan.h"
#include "ranks.h"
#include "rounds.h"

/* ---- Errors ---------------------------------------------------------------------------------- */

/* Ends the whole job, naming rank, place and reason.  Never returns. */
_Noreturn void mg_die(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
_Noreturn void mg_die_mpi(const char *file, int line, const char *call, int code);

#define MG_DIE(...) mg_die(__FILE__, __LINE__, __VA_ARGS__)

#define MG_MPI(call)                                         \
    do {                                                     \
        const int mg_code_ = (call);                         \
        if (mg_code_ != MPI_SUCCESS)                         \
            mg_die_mpi(__FILE__, __LINE__, #call, mg_code_); \
    } while (0)

/* ---- Visits ---------------------------------------------------------------------------------- */

/* Probes once in a launch, and tells the journal. */
void mg_probe_visit(const struct mg_plan *plan, const struct mg_visit *visit,
                    struct mg_state *state, int64_t at_ns);

/* Whether there is memory for a visit and it cannot deadlock; if not, the journal tells why. */
bool mg_is_possible(const struct mg_plan *plan, const struct mg_visit *visit,
                    struct mg_state *state);

/* What all network interfaces of this host, or of its namespace, have carried; 0 if not known. */
struct mg_net {
    int64_t received_bytes;
    int64_t sent_bytes;
};
struct mg_net mg_net_carried(void);

/* Received since then, or sent if that is more: on one host both are the same, but of a stream from
 * here to another host only the acknowledgements come back. */
int64_t mg_net_bytes_since(struct mg_net before);

/* Every visit of the plan in its order, each ended by its line in the journal. */
void mg_measure(const struct mg_plan *plan, int64_t start_ns);

#endif
