/* kernel.h - what the files of mpigauge-kernel know of each other.
 *
 * Times are int64_t nanoseconds (_ns), sizes are bytes.  A pattern (patterns/NAME.c) sees only
 * struct mg_state and the calls of calls.h; loop, clock, stop rule and output live elsewhere, once.
 */
#ifndef MG_KERNEL_H
#define MG_KERNEL_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum {
    MG_PLAN_VERSION = 2, /* of the plan and journal texts; mpigauge refuses a kernel of another */
    MG_MAX_MODES    = 8,
    MG_NAME_BYTES   = 256,
    MG_WORDS_BYTES  = 256, /* of a sentence about a wrong payload */
    MG_TRIPS_RANKS  = -1,  /* mg_pattern.trips: one operation for every rank */
    MG_TRIPS_REPEAT = -2,  /* mg_pattern.trips: mg_state.repeats of them */
    MG_OVERDRAFT    = 8,   /* how often its share of time a slow cell may take */
    MG_TAG          = 1,   /* of measured messages */
    MG_TAG_CONTROL  = 2,   /* of handshakes, outside timed code */
};

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

/* ---- Datatypes and operations of reductions -------------------------------------------------- */

struct mg_operation {
    const char *name;
    MPI_Op      op;
};

struct mg_datatype {
    const char  *name;
    MPI_Datatype type;
    size_t       bytes;
    bool         floating; /* logical and bitwise operations need integers */
};

const struct mg_datatype  *mg_datatype_find(const char *name);
const struct mg_operation *mg_operation_find(const char *name);
bool mg_operation_fits(const struct mg_operation *operation, const struct mg_datatype *datatype);
void mg_describe_datatypes(FILE *out);

/* ---- What a pattern sees --------------------------------------------------------------------- */

/* One rank's view of a visit.  send and recv are separate memory; in a window, message i is sent
 * from send + i * send_step and received at recv + i * recv_step.  Where a pattern has a block for
 * every rank, block i begins at i * bytes. */
struct mg_state {
    MPI_Comm       comm; /* of the ranks that take part, at least 2 for messages */
    int            rank;
    int            ranks;
    size_t         bytes;
    int            window;
    unsigned char *send;
    unsigned char *recv;
    size_t         send_step;
    size_t         recv_step;
    MPI_Request   *requests; /* room for 2 * window, or 2 if that is more */
    void          *attached; /* buffered mode: the memory lent to MPI */

    int          count; /* elements of datatype in `bytes` */
    MPI_Datatype datatype;
    MPI_Op       op;
    int          root;
    int          turn; /* whose turn it is, of patterns that go around */
    bool         in_place;
    int         *counts; /* v-variants: elements and place of every rank's block */
    int         *displacements;
    int          repeats; /* of an operation that may be shorter than calling a function */
    int64_t      work;    /* steps of computation to hide communication behind */

    unsigned char *shared; /* the same memory on all ranks of the group, or NULL */
};

/* What must be at recv + at after a call: what `source` has at its send + from, or, if there is an
 * operation, the reduction of that over `ranks` ranks from `source` on. */
struct mg_piece {
    size_t at;
    size_t from;
    size_t bytes;
    int    source;
    int    ranks;
};

/* A way of doing a pattern.  begin and finish surround a series of calls, untimed; either may be
 * NULL.  Every rank of the group runs all three. */
struct mg_mode {
    const char *name;
    const char *about;
    void (*begin)(struct mg_state *state);
    void (*call)(struct mg_state *state);
    void (*finish)(struct mg_state *state);
    int (*source)(const struct mg_state *state); /* whose payload ends up in recv; -1 = nobody's */
    int  directions;      /* messages under way at once between a pair: 1, or 2 = both directions */
    bool needs_eager;     /* deadlocks above the eager limit, so it is never started there */
    bool binds_buffers;   /* begin ties the buffers to requests: cold buffers cannot be walked */
    bool attaches_buffer; /* lends MPI four messages of memory, counted by an int */
    bool overlaps;        /* computes between start and wait */
};

enum mg_sampling {
    MG_CHAINED,  /* every round is a sample: the root's clock sees cause and effect */
    MG_BLOCKS,   /* both sides can lock into a skewed rhythm, so a sample is a block of rounds */
    MG_FLOOR,    /* one round a sample whatever it takes: shows what the instrument itself costs */
    MG_PROBE,    /* finds a limit instead of a time */
    MG_COMMON,   /* all ranks start at one moment; a sample is last end - first start */
    MG_PREPARED, /* `prepare` before every call, untimed; the root times the call alone */
    MG_ACKED,    /* every rank in turn acknowledges; the largest time but half a round trip */
};

/* Which bus bandwidth the field gives beside bytes / time, and for how many blocks. */
enum mg_bus {
    MG_BUS_NONE,
    MG_BUS_SAME,   /* as the algorithm bandwidth */
    MG_BUS_OTHERS, /* times (p - 1) / p: nobody sends to itself */
    MG_BUS_TWICE,  /* times 2 (p - 1) / p: reduce, then spread */
};

struct mg_pattern {
    const char      *name;
    const char      *about;
    const char      *time_of; /* what one reported time is */
    enum mg_sampling sampling;
    int              min_ranks;
    int              active_ranks;  /* how many take part; 0 = all */
    int              trips;         /* reported operations in one call; 0 = the window */
    bool             windowed;      /* uses window and its receive slots */
    bool             moves_bytes;   /* the size is that of a message; rates make sense */
    bool             spans_bytes;   /* the size is that of the memory worked on: no rate */
    size_t           unit_bytes;    /* sizes are multiples of it; 0 = any, also empty ones */
    int64_t          least_ns;      /* a sample lasts at least so long; 0 = what the clock needs */
    bool             send_each;     /* a block for every rank to send */
    bool             recv_each;     /* a block from every rank to receive */
    bool             reduces;       /* takes datatype and operation */
    bool             rooted;        /* has a root */
    bool             may_in_place;  /* has a form with MPI_IN_PLACE */
    bool             accumulates;   /* recv is the second operand: it holds what rank + 1 sends */
    bool             synchronises;  /* nobody may leave before everybody has come */
    bool             shares_memory; /* needs mg_state.shared, `bytes` after its first page */
    enum mg_bus      bus;
    void (*prepare)(struct mg_state *state);  /* MG_PREPARED: before every call */
    void (*baseline)(struct mg_state *state); /* MG_ACKED: the empty round trip of a turn */
    /* Piece i of what must be received; false after the last one.  NULL: the mode's source. */
    bool (*piece)(const struct mg_state *state, int i, struct mg_piece *piece);
    /* What is wrong after a call beyond pieces, in words; false if something is. */
    bool (*check)(const struct mg_state *state, char *words, size_t words_bytes);
    struct mg_mode modes[MG_MAX_MODES]; /* ends with a nameless one */
};

const struct mg_pattern *mg_pattern_find(const char *name);
const struct mg_mode    *mg_mode_find(const struct mg_pattern *pattern, const char *name);
void                     mg_describe(FILE *out);

/* ---- Plan ------------------------------------------------------------------------------------ */

/* How the ranks of a MG_COMMON round start together. */
enum mg_start {
    MG_START_COMMON,      /* at a moment of the global clock */
    MG_START_BARRIER,     /* as they leave our dissemination barrier */
    MG_START_MPI_BARRIER, /* as they leave MPI_Barrier */
};

/* One visit: a short uninterrupted run of rounds of one cell. */
struct mg_visit {
    int64_t                    id;
    int                        cell; /* visits of one cell share it */
    const struct mg_pattern   *pattern;
    const struct mg_mode      *mode;
    int                        ranks; /* that take part */
    size_t                     bytes;
    int                        window;
    size_t                     pool_bytes; /* cold: what each side walks through; 0 = warm */
    enum mg_start              start;
    const struct mg_datatype  *datatype; /* NULL unless the pattern reduces */
    const struct mg_operation *operation;
    int                        root; /* -1 = another one each round */
    bool                       in_place;
    int                        pair[2]; /* world ranks; those of other visits are the first ones */
    int64_t                    step;    /* pairs of one step are measured at once; -1 = no pair */
};

struct mg_plan {
    int              ranks;
    int              cores; /* that they share */
    int              visits_per_cell;
    int              rounds_min; /* of a cell in this launch, before the stop rule may end it */
    int              rounds_max;
    int              precision_ppm; /* half-width of the within-launch interval to stop at */
    int64_t          cell_ns;       /* time a cell should take in this launch */
    int64_t          deadline_ns;   /* no visit begins later than this after the start */
    int64_t          warmup_ns;     /* per group of ranks, before the first visit */
    int              visits_count;
    int              cells_count;
    struct mg_visit *visits;
};

/* Read on rank 0 from the file (- = standard input), known to all ranks afterwards.  A plan that
 * cannot be followed ends the job with one sentence naming the line. */
struct mg_plan mg_plan_read(const char *path);
void           mg_plan_free(struct mg_plan *plan);

/* ---- Clock ----------------------------------------------------------------------------------- */

/* What reading the clock costs and resolves, over 1e5 back-to-back reads (method 1.1). */
struct mg_clock_facts {
    int64_t step_ns; /* smallest difference that is not zero */
    int64_t cost_ns; /* median */
    int64_t cost_p999_ns;
    double  zero_share;
};

extern clockid_t mg_clock_id; /* read by mg_now_ns alone; chosen by mg_clock_choose */

/* Collective: the same clock on all ranks, since stamps of several ranks are compared. */
void                  mg_clock_choose(void);
const char           *mg_clock_name(void);
struct mg_clock_facts mg_clock_measure(void);

#ifdef MG_SIMULATED_CLOCKS
/* A build for tests: every rank's clock is wrong by an offset and a drift that the test knows. */
int64_t mg_simulated_ns(int64_t true_ns);
#else
#define mg_simulated_ns(true_ns) (true_ns)
#endif

static inline int64_t mg_now_ns(void)
{
    struct timespec now;

    (void) clock_gettime(mg_clock_id, &now);
    return mg_simulated_ns((int64_t) now.tv_sec * 1000000000 + now.tv_nsec);
}

/* What all network interfaces of this host, or of its namespace, have received; 0 if not known. */
int64_t mg_net_received_bytes(void);

/* User and system time of this process, all its threads. */
int64_t mg_cpu_ns(void);

/* ---- One clock for all ranks ----------------------------------------------------------------- */

/* The time of world rank 0 by this rank's clock: t - offset - slope * (t - base).  The bound is
 * hard at base and grows by bound_slope for every nanosecond after it (method 2.2, 2.3). */
struct mg_clock_model {
    int64_t base_ns;
    double  offset_ns;
    double  slope;
    double  bound_ns;
    double  bound_slope;
};

/* Hard bounds of how far a rank's global clock is ahead of that of rank 0. */
struct mg_clock_check {
    int64_t rank;
    int64_t low_ns;
    int64_t high_ns;
};

/* Learns the global clock, and tells the journal.  Collective over the world. */
void mg_clocks_synchronise(int64_t start_ns);

/* Measures how well the global clock holds, and tells the journal; learns it anew where it is off
 * by more than tolerance_ns.  Collective over the world. */
void mg_clocks_check(int64_t start_ns, int64_t tolerance_ns);

bool    mg_clocks_shared(void); /* all ranks read one clock */
int64_t mg_global_of(int64_t local_ns);
int64_t mg_local_of(int64_t global_ns);

/* Bounds of (reference - client) by N stamped exchanges, on the client (method 2.2). */
struct mg_bounds {
    int64_t low_ns;
    int64_t high_ns;
    int64_t at_ns; /* client time between the two exchanges that set them */
};

/* The model of a client's clock at the last of some bounds. */
struct mg_clock_model mg_clock_fit(const struct mg_bounds *bounds, int count);

/* ---- Ranks together -------------------------------------------------------------------------- */

/* The first `ranks` of the world, with a communicator of their own. */
struct mg_group {
    MPI_Comm comm; /* MPI_COMM_NULL on ranks outside */
    int      ranks;
};

/* Cached: the same communicator for the same number of ranks.  Collective over the world. */
struct mg_group mg_group_of(int ranks);
void            mg_groups_free(void);

/* Returns when every rank of comm has called it: a dissemination barrier of empty messages, the
 * same for all MPI libraries. */
void mg_handshake(MPI_Comm comm);

/* Returns when every rank of the world has called it.  Ranks that wait long sleep in it, so that
 * they cost the measured ranks nothing. */
void mg_rest_until_all(void);

void mg_share(MPI_Comm comm, void *data, size_t bytes); /* from rank 0 to all */
bool mg_all(MPI_Comm comm, bool here);                  /* true if it is true on every rank */

/* Whether so many ranks are more than the cores of their host: those that wait must let go. */
bool mg_crowded(int ranks);
void mg_crowd(int cores_of_host);

/* ---- Rounds ---------------------------------------------------------------------------------- */

/* What a series of rounds gave, on rank 0 of the group; all arrays have room for `room`. */
struct mg_rounds {
    int      room;
    int      count;
    int64_t *samples_ns;
    int64_t  elapsed_ns; /* of the whole series, with what lies between the samples */
    int64_t  cpu_ns;     /* all ranks of the group, over the samples; -1 = not known */
    /* of MG_COMMON: */
    int64_t *skew_ns;  /* last start - first start */
    int64_t *root_ns;  /* end - start at the root */
    int64_t *local_ns; /* median over ranks of end - start */
    bool    *late;     /* a rank came after the start: the round says little */
    int      late_count;
    int      left_early; /* rounds in which a rank left before another came */
    int64_t  lead_ns;
};

void mg_rounds_make(struct mg_rounds *rounds, int room);
void mg_rounds_free(struct mg_rounds *rounds);

struct mg_walk;

/* Runs up to `count` rounds of `batch` calls; MG_COMMON ones end after limit_ns. */
void mg_rounds_run(const struct mg_visit *visit, struct mg_state *state, struct mg_walk *walk,
                   int batch, int count, int64_t limit_ns, struct mg_rounds *rounds);

/* The same for rounds that all ranks start together. */
void mg_together_run(const struct mg_visit *visit, struct mg_state *state, struct mg_walk *walk,
                     int count, int64_t limit_ns, struct mg_rounds *rounds);
void mg_together_free(void);

int64_t mg_median_of(const int64_t *values, int count);

/* Computes, without MPI and without memory, for so many steps; mg_work_for says how many of them
 * take a time on this rank. */
void    mg_work(int64_t steps);
int64_t mg_work_for(int64_t ns);

/* Memory that all ranks of the group see at state->shared, at least bytes; false if they are not on
 * one host.  Collective over the group; stays until mg_shared_free. */
bool mg_shared_reserve(struct mg_state *state, size_t bytes);
void mg_shared_free(void);

/* ---- Memory and payload ---------------------------------------------------------------------- */

/* Makes room for the buffers of a visit, touched and page-aligned; false if there is no memory. */
bool mg_payload_reserve(const struct mg_visit *visit);
void mg_payload_free(void);

/* Points state at the buffers and fills what it will send; slots is how many places a cold visit
 * walks through (1 = warm). */
void mg_payload_prepare(const struct mg_visit *visit, struct mg_state *state, int *slots_p);

/* Moves on to the next place of a cold walk. */
struct mg_walk {
    unsigned char *send_first;
    unsigned char *recv_first;
    size_t         send_stride;
    size_t         recv_stride;
    int            slots;
    int            slot;
};
struct mg_walk mg_payload_walk(const struct mg_visit *visit, const struct mg_state *state,
                               int slots);

static inline void mg_walk_on(struct mg_walk *walk, struct mg_state *state)
{
    walk->slot  = walk->slot + 1 == walk->slots ? 0 : walk->slot + 1;
    state->send = walk->send_first + (size_t) walk->slot * walk->send_stride;
    state->recv = walk->recv_first + (size_t) walk->slot * walk->recv_stride;
}

/* What `rank` contributes to a reduction; and the first of some elements, which begin with number
 * `first`, that is not the reduction over `ranks` ranks from source on, or count. */
void   mg_elements_fill(const struct mg_visit *visit, unsigned char *data, size_t count, int rank);
size_t mg_elements_differ(const struct mg_visit *visit, const unsigned char *data, size_t first,
                          size_t count, int source, int ranks);

/* Word i of what a rank sends in a visit. */
uint64_t mg_content_word(int64_t visit, int rank, size_t i);

/* One untimed series of a single call, whose content is compared byte by byte.  On a mismatch
 * describes it in `words` (on rank 0 of the group, whoever found it) and returns false there. */
bool mg_payload_verify(const struct mg_visit *visit, struct mg_state *state, char *words,
                       size_t words_bytes);

/* ---- Stop rule ------------------------------------------------------------------------------- */

/* Times of one call, of all samples of a cell in this launch in time order, with the ends of its
 * visits: visits may differ in how many calls their samples hold. */
struct mg_series {
    double *calls_ns;
    int     count;
    int    *visit_ends;
    int     visits;
};

/* Where a cell stands by method 1.11: effective number of samples and relative half-width of the
 * within-launch interval of the median (infinite while there are too few). */
struct mg_standing {
    double correlation_time;
    double effective;
    double half_width;
};

void mg_series_append(struct mg_series *series, const int64_t *samples_ns, int count, int batch);
void mg_series_free(struct mg_series *series);
struct mg_standing mg_series_standing(const struct mg_series *series);

/* ---- Eager limit ----------------------------------------------------------------------------- */

struct mg_eager {
    bool    known;
    bool    found;        /* false: no limit up to max_bytes, or it moved with the polling time */
    bool    control_held; /* the same probe with MPI_Issend never completed */
    int64_t limit_bytes;  /* largest message that completed alone */
    int64_t longer_bytes; /* the same with longer polling */
    int64_t max_bytes;    /* largest size tried */
    int     probes;
};

/* The probe of method 3.5 between ranks 0 and 1 of the group; the same answer on all of them. */
struct mg_eager mg_eager_probe(const struct mg_state *state, size_t max_bytes);

/* Probes once in a launch, and tells the journal. */
void mg_probe_visit(const struct mg_plan *plan, const struct mg_visit *visit,
                    struct mg_state *state, int64_t at_ns);

/* Whether there is memory for a visit and it cannot deadlock; if not, the journal tells why. */
bool mg_is_possible(const struct mg_plan *plan, const struct mg_visit *visit,
                    struct mg_state *state);

/* ---- Journal --------------------------------------------------------------------------------- */

/* What rank 0 says of a finished visit. */
struct mg_outcome {
    int                batch; /* calls between two stamps */
    int                ops;   /* reported operations in one sample: batch * trips */
    int                trials;
    int                warmups;
    const int64_t     *trial_ns; /* single rounds, the first one of the cell in this launch first */
    const int64_t     *warmup_ns;
    int64_t            at_ns;
    int64_t            elapsed_ns;
    size_t             pool_bytes;
    const char        *corrupt; /* NULL, or what was wrong with the payload */
    struct mg_standing standing;
    const int64_t     *pure_ns; /* the same rounds without the computation of `overlap` */
    int                pures;
    int64_t            net_bytes; /* received by this host's interfaces during net_calls calls */
    int                net_calls;
    int64_t            work_ns; /* how long that computation takes alone */
};

void mg_journal_open(const char *path);
void mg_journal_close(void);
void mg_journal_launch(int ranks_asked); /* collective: gathers the facts of every rank */
void mg_journal_begin(const struct mg_visit *visit, int64_t at_ns, int64_t expect_ns);
void mg_journal_tick(const struct mg_visit *visit, int64_t round_ns);
/* Between probes, outside timed code: a line if there has been none for a second, so that a long
 * probe is not taken for a hang. */
void mg_journal_alive(void);
void mg_journal_visit(const struct mg_visit *visit, const struct mg_outcome *outcome,
                      const struct mg_rounds *rounds);
/* models is NULL where all ranks read one clock, or after a mere check. */
void mg_journal_clock(int64_t at_ns, bool shared, const struct mg_clock_check *checks, int count,
                      const struct mg_clock_model *models, int ranks);
void mg_journal_skip(const struct mg_visit *visit, const char *reason);
void mg_journal_blocked(const struct mg_visit *visit, const struct mg_eager *eager);
void mg_journal_refused(const struct mg_visit *visit, const char *reason);
void mg_journal_eager(const struct mg_visit *visit, const struct mg_eager *eager, int64_t at_ns);
void mg_journal_end(int64_t at_ns);
void mg_journal_string(FILE *out, const char *text);

/* ---- Sizing and warm-up ---------------------------------------------------------------------- */

/* Calls between two clock readings, given the time of one and the time that a visit has. */
int mg_batch_for(const struct mg_pattern *pattern, double round_ns, int64_t share_ns,
                 const struct mg_clock_facts *clock);

/* Samples of one visit, given what one costs and the time that the visit has. */
int mg_rounds_for(const struct mg_plan *plan, double cost_ns, int64_t share_ns);

/* Once per group of ranks that the plan uses, at one byte and at its largest message. */
void mg_warm_up(const struct mg_plan *plan);

/* ---- The run --------------------------------------------------------------------------------- */

/* Every visit of the plan in its order, each ended by its line in the journal. */
void mg_measure(const struct mg_plan *plan, int64_t start_ns);

#endif
