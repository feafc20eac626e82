/* journal.h - what rank 0 writes down as it happens. */
#ifndef MG_JOURNAL_H
#define MG_JOURNAL_H

#include "pattern.h"
#include "rounds.h"

enum { MG_NAME_BYTES = 256 };

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

#endif
