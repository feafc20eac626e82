/* stop_rule.h - all samples of a cell in this launch, and whether there are enough. */
#ifndef MG_STOP_RULE_H
#define MG_STOP_RULE_H

#include <stdint.h>

/* Times of one call, of all samples of a cell in this launch in time order, with the ends of its
 * visits: visits may differ in how many calls their samples hold. */
struct mg_series {
    double *calls_ns;
    int     count;
    int    *visit_ends;
    int     visits;
};

/* Where a cell stands by docs/method.md#enough-within-a-launch: effective number of samples and
 * relative half-width of the within-launch interval of the median (infinite while there are too
 * few). */
struct mg_standing {
    double correlation_time;
    double effective;
    double half_width;
};

void mg_series_append(struct mg_series *series, const int64_t *samples_ns, int count, int batch);
void mg_series_free(struct mg_series *series);
struct mg_standing mg_series_standing(const struct mg_series *series);

#endif
