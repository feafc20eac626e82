/* alive - that a visit comes on: the journal says so to whoever watches the launch, and where the
 * plan says that nobody does, an alarm ends a visit that does not. */
#include "rounds/alive.h"

#include "patterns/volumes.h"
#include "ranks/leave.h"
#include "rounds/batching.h"
#include "text/journal.h"

#include <stdio.h>

enum {
    PATIENCE      = 20, /* times what lies between two signs of life should take, at most */
    RESTS         = 16, /* times that, of ranks that wait for a whole visit of others */
    WORDS_BYTES   = 128,
    NS_PER_BYTE   = 1000, /* of a network that hardly deserves the name: 1 MB/s */
    NS_PER_SECOND = 1000000000,
};

static const double longest_ns = 1e17; /* three years */

static double most(double a, double b)
{
    return a > b ? a : b;
}

/* A series takes its share of time and what slow rounds may take beyond it, or if nobody knows yet
 * how slow they are, what all bytes of a call take. */
static double limit_ns(const struct mg_plan *plan, const struct mg_visit *visit)
{
    const size_t sent = mg_volume_bytes(mg_volume_sent(visit->pattern), visit->ranks, visit->bytes);
    const size_t received =
        mg_volume_bytes(mg_volume_received(visit->pattern), visit->ranks, visit->bytes);
    const double moved_ns =
        NS_PER_BYTE * (double) mg_messages_per_call(visit) * most((double) sent, (double) received);
    const double series_ns = MG_OVERDRAFT * (double) plan->cell_ns / (double) plan->visits_per_cell;

    return most((double) plan->hang_ns, PATIENCE * most(series_ns, moved_ns));
}

static void give_up_after(double patience_ns, const char *what)
{
    char words[WORDS_BYTES];

    (void) snprintf(words, sizeof words, "%.80s has hung for %.3g s: gave it up", what,
                    patience_ns / NS_PER_SECOND);
    mg_leave_after((int64_t) (patience_ns < longest_ns ? patience_ns : longest_ns), words);
}

/* Whatever is sent in it passes in one of the visits as well, and ranks wait for each other's. */
void mg_alive_warm_up(const struct mg_plan *plan)
{
    double patience_ns = PATIENCE * (double) plan->ranks * (double) plan->warmup_ns;

    if (plan->hang_ns == 0)
        return;
    for (int i = 0; i < plan->visits_count; i++)
        patience_ns = most(patience_ns, RESTS * limit_ns(plan, &plan->visits[i]));
    give_up_after(patience_ns, "the warm-up");
}

void mg_alive_begin(const struct mg_plan *plan, const struct mg_visit *visit, bool takes_part)
{
    char words[WORDS_BYTES];

    if (plan->hang_ns == 0)
        return;
    (void) snprintf(words, sizeof words, "visit %lld (%.40s, %zu B)", (long long) visit->id,
                    visit->pattern->name, visit->bytes);
    give_up_after((takes_part ? 1 : RESTS) * limit_ns(plan, visit), words);
}

void mg_alive(void)
{
    mg_journal_alive();
    mg_leave_later();
}

void mg_alive_end(void)
{
    mg_leave_never();
}
