/* series.h - the samples of a cell in this launch, and how precise their median is. */
#ifndef MG_SERIES_H
#define MG_SERIES_H

#include <stdint.h>

/* All samples of a cell in this launch in order of time, as times of one call, since the number of
 * calls per sample may differ between visits. */
struct mg_series {
    double *calls_ns;
    int     count;
    int    *visit_ends;
    int     visits;
};

/* Precision within the launch by docs/method.md#enough-within-a-launch. */
struct mg_precision {
    double correlation_time; /* in samples */
    double effective;        /* number of samples */
    double half_width; /* relative, of the interval of the median; infinite with too few samples */
};

void mg_series_append(struct mg_series *series, const int64_t *samples_ns, int count, int batch);
void mg_series_free(struct mg_series *series);
struct mg_precision mg_series_precision(const struct mg_series *series);

#endif
