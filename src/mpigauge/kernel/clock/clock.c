/* clock - chooses the clock, and measures what reading it costs. */
#include "clock/clock.h"

#include "ranks/abort.h"

#include <stdlib.h>
#include <string.h>

enum {
    READS       = 10000, /* 10 of them are beyond the 99.9th percentile */
    BLOCK_READS = 1000,
    READS_MAX   = 1000000, /* of a block: some 20 ms, 20 steps of a clock of 1 ms */
    STEPS_MIN   = 20,      /* of the clock, in a block: resolves its length to 5 % */
    BLOCKS_MIN  = 3,
};

clockid_t mg_clock_id = CLOCK_MONOTONIC;

static struct mg_clock_facts facts;

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *) a;
    const int64_t y = *(const int64_t *) b;

    return (x > y) - (x < y);
}

static int64_t block_of_reads(int reads)
{
    const int64_t begin_ns = mg_now_ns();
    int64_t       end_ns   = begin_ns;

    for (int i = 0; i < reads; i++)
        end_ns = mg_now_ns();
    return end_ns - begin_ns;
}

/* The cost of one reading, from the fastest of many blocks: single differences are 0 where a step
 * of the clock is longer than a reading.  A coarse clock gets longer and fewer blocks. */
static int64_t cost_of_read(int64_t step_ns)
{
    for (int reads = BLOCK_READS;; reads *= 10) {
        const int blocks     = READS / reads > BLOCKS_MIN ? READS / reads : BLOCKS_MIN;
        int64_t   fastest_ns = INT64_MAX;

        for (int block = 0; block < blocks; block++) {
            const int64_t time_ns = block_of_reads(reads);

            if (time_ns >= 0 && time_ns < fastest_ns)
                fastest_ns = time_ns;
        }
        if (fastest_ns >= STEPS_MIN * step_ns || reads >= READS_MAX)
            return fastest_ns < INT64_MAX ? (fastest_ns + reads / 2) / reads : 0;
    }
}

/* The next step of a clock that had none in all readings; 0 of one that stands. */
static int64_t next_step_ns(int64_t last_ns)
{
    for (int i = 0; i < READS_MAX; i++) {
        const int64_t now_ns = mg_now_ns();

        if (now_ns > last_ns)
            return now_ns - last_ns;
    }
    return 0;
}

static struct mg_clock_facts measured(void)
{
    int64_t *differences_ns = malloc(READS * sizeof *differences_ns);
    int      zeros          = 0;

    if (differences_ns == NULL)
        MG_DIE("no memory to measure the clock");
    for (int i = 0; i < READS; i++)
        differences_ns[i] = 0; /* touched: a page fault is not a clock reading */

    int64_t last_ns = mg_now_ns();
    for (int i = 0; i < READS; i++) {
        const int64_t now_ns = mg_now_ns();

        differences_ns[i] = now_ns - last_ns;
        last_ns           = now_ns;
    }

    qsort(differences_ns, READS, sizeof *differences_ns, by_value);
    while (zeros < READS && differences_ns[zeros] <= 0)
        zeros++;
    const int64_t step_ns = zeros < READS ? differences_ns[zeros] : next_step_ns(last_ns);
    const struct mg_clock_facts found = {
        .step_ns      = step_ns,
        .cost_ns      = cost_of_read(step_ns),
        .cost_p999_ns = differences_ns[READS - READS / 1000],
        .zero_share   = (double) zeros / READS,
    };
    free(differences_ns);
    return found;
}

/* CLOCK_MONOTONIC_RAW is not slewed by NTP, but on some machines each reading is a system call:
 * then CLOCK_MONOTONIC is better. */
void mg_clock_choose(void)
{
    mg_clock_id                       = CLOCK_MONOTONIC;
    const struct mg_clock_facts plain = measured();

    mg_clock_id                     = CLOCK_MONOTONIC_RAW;
    const struct mg_clock_facts raw = measured();

    /* All ranks must be able to use it. */
    int avoid_raw = raw.step_ns == 0 || raw.cost_ns > 2 * plain.cost_ns;
    MG_MPI(MPI_Allreduce(MPI_IN_PLACE, &avoid_raw, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD));
    if (avoid_raw)
        mg_clock_id = CLOCK_MONOTONIC;
    facts = avoid_raw ? plain : raw;
}

const struct mg_clock_facts *mg_clock_facts(void)
{
    return &facts;
}

#ifdef MG_SIMULATED_CLOCKS
/* MPIGAUGE_SIMULATED_CLOCKS=base_ns;offset_ns,drift_ppb;offset_ns,drift_ppb;... one pair per rank:
 * the clock reads t + offset + drift * (t - base). */
int64_t mg_simulated_ns(int64_t true_ns)
{
    static struct {
        bool    known;
        int64_t base_ns, offset_ns, drift_ppb;
    } wrong;

    if (!wrong.known) {
        const char *at   = getenv("MPIGAUGE_SIMULATED_CLOCKS");
        int         rank = 0;
        int         up   = 0;

        (void) MPI_Initialized(&up);
        if (!up || at == NULL)
            return true_ns;
        (void) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        wrong.base_ns = strtoll(at, NULL, 10);
        for (int i = 0; i <= rank && at != NULL; i++) {
            at = strchr(at, ';');
            at = at == NULL ? NULL : at + 1;
        }
        if (at != NULL) {
            char *comma = NULL;

            wrong.offset_ns = strtoll(at, &comma, 10);
            wrong.drift_ppb = strtoll(comma + 1, NULL, 10);
        }
        wrong.known = true;
    }
    return true_ns + wrong.offset_ns +
           (int64_t) ((double) (true_ns - wrong.base_ns) * (double) wrong.drift_ppb * 1e-9);
}
#endif

const char *mg_clock_name(void)
{
    return mg_clock_id == CLOCK_MONOTONIC_RAW ? "CLOCK_MONOTONIC_RAW" : "CLOCK_MONOTONIC";
}

int64_t mg_cpu_ns(void)
{
    struct timespec used;

    (void) clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (int64_t) used.tv_sec * 1000000000 + used.tv_nsec;
}
