/* samples.h - results of a series of rounds. */
#ifndef MG_SAMPLES_H
#define MG_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

/* Valid on rank 0 of the group; all arrays have room for `room`. */
struct mg_rounds {
    int      room;
    int      count;
    int64_t *samples_ns;
    int64_t  calls;      /* on every rank, for all samples */
    int64_t  elapsed_ns; /* of the whole series, including time between samples */
    int64_t  cpu_ns;     /* all ranks of the group, over the samples; -1 = not known */
    /* of rounds that all ranks start together: */
    int64_t *skew_ns;  /* last start - first start */
    int64_t *root_ns;  /* end - start at the root */
    int64_t *local_ns; /* median over ranks of end - start */
    int64_t *rank_ns;  /* of each rank, median over rounds of end - start */
    int      rank_room;
    bool    *late; /* does not count: the start message was late, or, as an exception, a rank was */
    bool    *behind; /* a rank began late in spite of the message: something else had its core */
    int      late_count;
    int      late_message_count; /* of them, those with a late start message */
    int      left_early;         /* rounds in which a rank left before another came */
    int64_t  lead_ns;
    void (*heartbeat)(
        void); /* called between series and turns, so that long ones are not taken for a hang */
};

void mg_rounds_make(struct mg_rounds *rounds, int room, void (*heartbeat)(void));
void mg_rounds_free(struct mg_rounds *rounds);

/* Makes room for the times of so many ranks. */
void mg_rounds_fit_ranks(struct mg_rounds *rounds, int ranks);

int64_t mg_median_of(const int64_t *values, int count);
int64_t mg_median_in(int64_t *values, int count); /* in linear time; reorders the values */

/* Sets times below 0, of clocks that ran backwards, to 0; returns how many. */
int mg_clamp(int64_t *values, int count);

#endif
