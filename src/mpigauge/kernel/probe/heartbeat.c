/* heartbeat - signs of life during a visit: lines in the journal for mpigauge, which watches the
 * launch; and a watchdog that ends a visit without them where the plan says that nobody watches. */
#include "probe/heartbeat.h"

#include "patterns/volumes.h"
#include "ranks/watchdog.h"
#include "rounds/batching.h"
#include "text/journal.h"

#include <stdio.h>

enum {
    PATIENCE       = 20, /* times the expected time between two heartbeats */
    IDLE_FACTOR    = 16, /* times that, for ranks that wait for a visit of others */
    SENTENCE_BYTES = 128,
    NS_PER_BYTE    = 1000, /* of a very slow network: 1 MB/s */
    NS_PER_SECOND  = 1000000000,
};

static const double longest_ns = 1e17; /* three years */

static double larger_of(double a, double b)
{
    return a > b ? a : b;
}

/* A series takes its share of time and what slow rounds may take beyond it; before their time is
 * known, what moving all bytes of a call takes. */
static double limit_ns(const struct mg_plan *plan, const struct mg_visit *visit)
{
    const size_t sent = mg_volume_bytes(mg_volume_sent(visit->pattern), visit->ranks, visit->bytes);
    const size_t received =
        mg_volume_bytes(mg_volume_received(visit->pattern), visit->ranks, visit->bytes);
    const double moved_ns  = NS_PER_BYTE * (double) mg_messages_per_call(visit) *
                             larger_of((double) sent, (double) received);
    const double series_ns = MG_OVERDRAFT * (double) plan->cell_ns / (double) plan->visits_per_cell;

    return larger_of((double) plan->hang_ns, PATIENCE * larger_of(series_ns, moved_ns));
}

static void start_watchdog(double patience_ns, const char *what)
{
    char sentence[SENTENCE_BYTES];

    (void) snprintf(sentence, sizeof sentence, "%.80s has hung for %.3g s: gave it up", what,
                    patience_ns / NS_PER_SECOND);
    mg_watchdog_start((int64_t) (patience_ns < longest_ns ? patience_ns : longest_ns), sentence);
}

/* The warm-up sends no more than the visits do, but ranks wait for each other in it. */
void mg_heartbeat_warm_up(const struct mg_plan *plan)
{
    double patience_ns = PATIENCE * (double) plan->ranks * (double) plan->warmup_ns;

    if (plan->hang_ns == 0)
        return;
    for (int i = 0; i < plan->visits_count; i++)
        patience_ns = larger_of(patience_ns, IDLE_FACTOR * limit_ns(plan, &plan->visits[i]));
    start_watchdog(patience_ns, "the warm-up");
}

void mg_heartbeat_begin(const struct mg_plan *plan, const struct mg_visit *visit, bool takes_part)
{
    char sentence[SENTENCE_BYTES];

    if (plan->hang_ns == 0)
        return;
    (void) snprintf(sentence, sizeof sentence, "visit %lld (%.40s, %zu B)", (long long) visit->id,
                    visit->pattern->name, visit->bytes);
    start_watchdog((takes_part ? 1 : IDLE_FACTOR) * limit_ns(plan, visit), sentence);
}

void mg_heartbeat(void)
{
    mg_journal_heartbeat();
    mg_watchdog_restart();
}

void mg_heartbeat_end(void)
{
    mg_watchdog_cancel();
}
