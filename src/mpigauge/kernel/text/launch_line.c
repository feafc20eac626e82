/* launch_line - the first line of a journal: library, clock, placement and hosts of the launch. */
#include "text/launch_line.h"

#include "clock/clock.h"
#include "machine/host_facts.h"
#include "ranks/abort.h"
#include "ranks/affinity.h"
#include "ranks/oversubscribed.h"
#include "rounds/samples.h"
#include "text/journal.h"
#include "text/json.h"
#include "text/launch_cards.h"
#include "text/plan.h"

#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 256, CPUS_BYTES = 1024 };

struct rank_facts {
    char                  host[NAME_BYTES];
    char                  cpus[CPUS_BYTES];  /* where it may run: "0-3,8" */
    char                  cores[CPUS_BYTES]; /* each as its first hardware thread; may be empty */
    int                   threads;           /* that poll for messages */
    int                   cpu;               /* on which it ran when read */
    bool                  traced;            /* by a debugger or tracer */
    int64_t               init_ns;           /* in MPI_Init */
    struct mg_clock_facts clock;
    struct mg_host_facts  host_facts;
};

static struct rank_facts facts_here(int64_t init_ns)
{
    struct rank_facts facts;
    char              name[MPI_MAX_PROCESSOR_NAME];
    int               length = 0;

    memset(&facts, 0, sizeof facts);
    MG_MPI(MPI_Get_processor_name(name, &length));
    (void) snprintf(facts.host, sizeof facts.host, "%.*s", (int) sizeof facts.host - 1, name);
    const struct mg_cpus cpus  = mg_cpus_allowed();
    const struct mg_cpus cores = mg_cpus_cores(&cpus);
    mg_cpus_text(&cpus, facts.cpus, sizeof facts.cpus);
    mg_cpus_text(&cores, facts.cores, sizeof facts.cores);
    facts.threads    = mg_polling_threads();
    facts.cpu        = sched_getcpu();
    facts.clock      = *mg_clock_facts();
    facts.host_facts = mg_host_facts_read();
    facts.traced     = mg_is_traced();
    facts.init_ns    = init_ns;
    return facts;
}

static void put_ranks(FILE *out, const struct rank_facts *facts, int ranks)
{
    (void) fprintf(out, ",\"placement\":[");
    for (int i = 0; i < ranks; i++) {
        (void) fprintf(out, i > 0 ? ",{" : "{");
        mg_json_word(out, "host", facts[i].host);
        (void) fputc(',', out);
        mg_json_word(out, "cpus", facts[i].cpus);
        mg_json_known(out, "cores", facts[i].cores);
        if (facts[i].threads > 1)
            (void) fprintf(out, ",\"threads\":%d", facts[i].threads);
        (void) fprintf(out,
                       ",\"cpu\":%d,\"clock_step_ns\":%" PRId64 ",\"clock_cost_ns\":%" PRId64
                       ",\"clock_cost_p999_ns\":%" PRId64 ",\"clock_zero_share\":%.6f}",
                       facts[i].cpu, facts[i].clock.step_ns, facts[i].clock.cost_ns,
                       facts[i].clock.cost_p999_ns, facts[i].clock.zero_share);
    }
    (void) fputc(']', out);
}

static int traced_ranks(const struct rank_facts *facts, int ranks)
{
    int traced = 0;

    for (int i = 0; i < ranks; i++)
        traced += facts[i].traced ? 1 : 0;
    return traced;
}

/* What MPI_Init took on the slowest rank, and the median over ranks. */
static void put_init(FILE *out, const struct rank_facts *facts, int ranks)
{
    int64_t *init_ns = malloc((size_t) ranks * sizeof *init_ns);
    int64_t  longest = 0;

    if (init_ns == NULL)
        MG_DIE("no memory for the times of %d ranks", ranks);
    for (int i = 0; i < ranks; i++) {
        init_ns[i] = facts[i].init_ns;
        longest    = init_ns[i] > longest ? init_ns[i] : longest;
    }
    (void) fprintf(out, ",\"init_ns\":%" PRId64 ",\"init_median_ns\":%" PRId64, longest,
                   mg_median_of(init_ns, ranks));
    free(init_ns);
}

static const char *host_of(const void *facts, int rank)
{
    return ((const struct rank_facts *) facts)[rank].host;
}

static bool is_first_of_host(const struct rank_facts *facts, int rank)
{
    for (int i = rank - 1; i >= 0; i--) /* ranks of a host mostly follow each other */
        if (strcmp(facts[i].host, facts[rank].host) == 0)
            return false;
    return true;
}

static void put_machine(FILE *out, const struct mg_host_facts *host_facts)
{
    mg_json_word(out, "cpu", host_facts->cpu);
    (void) fputc(',', out);
    mg_json_word(out, "kernel", host_facts->system);
    (void) fprintf(out, ",\"cache_bytes\":%" PRId64 ",\"memory_bytes\":%" PRId64,
                   host_facts->cache_bytes, host_facts->memory_bytes);
    mg_json_known(out, "microcode", host_facts->microcode);
    mg_json_known(out, "online", host_facts->online);
    mg_json_known(out, "governor", host_facts->governor);
    mg_json_known(out, "clock_source", host_facts->clock_source);
}

/* Every host once, from the facts of its first rank. */
static void put_machines(FILE *out, const struct rank_facts *facts, int ranks)
{
    (void) fprintf(out, ",\"machines\":[");
    for (int i = 0; i < ranks; i++) {
        if (!is_first_of_host(facts, i))
            continue;
        (void) fprintf(out, i > 0 ? ",{" : "{");
        mg_json_word(out, "host", facts[i].host);
        (void) fputc(',', out);
        put_machine(out, &facts[i].host_facts);
        (void) fputc('}', out);
    }
    (void) fputc(']', out);
}

void mg_journal_launch(int ranks_asked, int64_t init_ns, int64_t first_round_trip_ns)
{
    char              library[MPI_MAX_LIBRARY_VERSION_STRING];
    int               length     = 0;
    int               ranks      = 0;
    int               version    = 0;
    int               subversion = 0;
    struct rank_facts here       = facts_here(init_ns);

    MG_MPI(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    MG_MPI(MPI_Get_library_version(library, &length));
    MG_MPI(MPI_Get_version(&version, &subversion));
    struct rank_facts *all = malloc((size_t) ranks * sizeof *all);
    if (all == NULL)
        MG_DIE("no memory for the facts of %d ranks", ranks);
    MG_MPI(MPI_Gather(&here, (int) sizeof here, MPI_BYTE, all, (int) sizeof here, MPI_BYTE, 0,
                      MPI_COMM_WORLD));
    struct mg_launch_cards cards = mg_launch_cards_gather();
    if (mg_journal_is_open()) {
        FILE *out = mg_journal_line();

        (void) fprintf(out, "{\"launch\":{\"kernel\":%d,\"ranks\":%d,\"ranks_asked\":%d,",
                       MG_PLAN_VERSION, ranks, ranks_asked);
        mg_json_word(out, "library", library);
        (void) fprintf(out, ",\"mpi_standard\":\"%d.%d\",", version, subversion);
        mg_json_word(out, "clock", mg_clock_name());
        put_ranks(out, all, ranks);
        put_machines(out, all, ranks);
        (void) fputc(',', out);
        mg_launch_cards_put(out, &cards, host_of, all);
        (void) fprintf(out, ",\"traced_ranks\":%d,\"first_round_trip_ns\":%" PRId64,
                       traced_ranks(all, ranks), first_round_trip_ns);
        put_init(out, all, ranks);
        (void) fputs("}}", out);
        mg_journal_end_line();
    }
    mg_launch_cards_free(&cards);
    free(all);
}
