/* series - the samples of a cell in this launch, and how precise their median is. */
#include "rounds/series.h"

#include "ranks/abort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double z95 = 1.959963984540054;

void mg_series_append(struct mg_series *series, const int64_t *samples_ns, int count, int batch)
{
    const size_t total = (size_t) series->count + (size_t) count;
    double      *grown = realloc(series->calls_ns, total * sizeof *grown);
    int         *ends  = realloc(series->visit_ends, ((size_t) series->visits + 1) * sizeof *ends);

    if (grown == NULL || ends == NULL)
        MG_DIE("no memory for %zu samples", total);
    for (int i = 0; i < count; i++)
        grown[series->count + i] = (double) samples_ns[i] / batch;
    series->calls_ns                     = grown;
    series->visit_ends                   = ends;
    series->count                        = (int) total;
    series->visit_ends[series->visits++] = (int) total;
}

void mg_series_free(struct mg_series *series)
{
    free(series->calls_ns);
    free(series->visit_ends);
    *series = (struct mg_series){0};
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *) a;
    const double y = *(const double *) b;

    return (x > y) - (x < y);
}

static double clip(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

/* Logarithms of the samples, in time order and sorted. */
static void take_logs(const struct mg_series *series, double *logs, double *sorted)
{
    for (int i = 0; i < series->count; i++)
        logs[i] = log(series->calls_ns[i] > 0 ? series->calls_ns[i] : 1);
    memcpy(sorted, logs, (size_t) series->count * sizeof *logs);
    qsort(sorted, (size_t) series->count, sizeof *sorted, by_value);
}

/* Logarithm of a percentile of the times, with linear interpolation as in the analysis. */
static double log_percentile(const double *sorted, int count, int percent)
{
    const int64_t place = (int64_t) percent * (count - 1);
    const int64_t whole = place / 100;
    const double  lower = exp(sorted[whole]);
    const double  upper = exp(sorted[whole + 1 < count ? whole + 1 : whole]);

    return log(lower + (upper - lower) * (double) (place % 100) / 100);
}

/* Sum of products of deviations `lag` samples apart, within visits. */
static double products(const struct mg_series *series, const double *deviations, int lag)
{
    double sum   = 0;
    int    start = 0;

    for (int v = 0; v < series->visits; v++) {
        for (int i = start; i + lag < series->visit_ends[v]; i++)
            sum += deviations[i] * deviations[i + lag];
        start = series->visit_ends[v];
    }
    return sum;
}

/* Integrated autocorrelation time: 1 + 2 * sum of r_j up to the first pair (2j, 2j + 1) whose sum
 * is not positive; never below 1.  Turns logs into deviations from
 * their mean. */
static double correlation_time(const struct mg_series *series, double *logs, const double *sorted)
{
    const int    count = series->count;
    const double low   = log_percentile(sorted, count, 1);
    const double high  = log_percentile(sorted, count, 99);
    double       mean  = 0;
    double       time  = 1;

    for (int i = 0; i < count; i++)
        mean += (logs[i] = clip(logs[i], low, high)) / count;
    for (int i = 0; i < count; i++)
        logs[i] -= mean;

    const double variance = products(series, logs, 0);
    if (variance <= 0)
        return 1;
    time += 2 * products(series, logs, 1) / variance;
    if (1 + products(series, logs, 1) / variance <= 0)
        return 1;
    for (int lag = 2; lag + 1 < count; lag += 2) {
        const double pair =
            (products(series, logs, lag) + products(series, logs, lag + 1)) / variance;

        if (pair <= 0)
            break;
        time += 2 * pair;
    }
    return time > 1 ? time : 1;
}

struct mg_precision mg_series_precision(const struct mg_series *series)
{
    const int           count     = series->count;
    struct mg_precision precision = {.correlation_time = 1, .half_width = INFINITY};

    if (count < 6)
        return precision;
    double *logs   = malloc((size_t) count * sizeof *logs);
    double *sorted = malloc((size_t) count * sizeof *sorted);
    if (logs == NULL || sorted == NULL)
        MG_DIE("no memory to judge %d samples", count);

    take_logs(series, logs, sorted);
    precision.correlation_time = correlation_time(series, logs, sorted);
    precision.effective        = count / precision.correlation_time;

    const double reach = z95 * sqrt(count * precision.correlation_time);
    const int    low   = (int) floor((count - reach) / 2);
    if (low >= 1)
        precision.half_width = expm1((sorted[count - low] - sorted[low - 1]) / 2);
    free(logs);
    free(sorted);
    return precision;
}
