/* samples.h - what a series of rounds gave. */
#ifndef MG_SAMPLES_H
#define MG_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

/* On rank 0 of the group; all arrays have room for `room`. */
struct mg_rounds {
    int      room;
    int      count;
    int64_t *samples_ns;
    int64_t  calls;      /* that were made for them, on every rank */
    int64_t  elapsed_ns; /* of the whole series, with what lies between the samples */
    int64_t  cpu_ns;     /* all ranks of the group, over the samples; -1 = not known */
    /* of rounds that all ranks start together: */
    int64_t *skew_ns;  /* last start - first start */
    int64_t *root_ns;  /* end - start at the root */
    int64_t *local_ns; /* median over ranks of end - start */
    bool    *late; /* not to be counted: the word came too late, or seldom so, a rank was behind */
    bool    *behind; /* a rank had the word in time and began late: something else had its core */
    int      late_count;
    int      told_late_count; /* of them, those where the word came too late */
    int      left_early;      /* rounds in which a rank left before another came */
    int64_t  lead_ns;
    void (*alive)(void); /* called between series and turns: a long one is not taken for a hang */
};

void mg_rounds_make(struct mg_rounds *rounds, int room, void (*alive)(void));
void mg_rounds_free(struct mg_rounds *rounds);

int64_t mg_median_of(const int64_t *values, int count);
int64_t mg_median_in(int64_t *values, int count); /* in linear time; leaves them in another order */

/* Makes times below 0 be 0, as clocks may run backwards that no rank is bound to; how many. */
int mg_clamp(int64_t *values, int count);

#endif
