/* plan.h - reads the plan. */
#ifndef MG_PLAN_H
#define MG_PLAN_H

#include "rounds/visits.h"

enum {
    MG_PLAN_VERSION = 2 /* of the plan and journal texts; mpigauge refuses a kernel of another */
};

/* Read on rank 0 from the file (- = standard input), known to all ranks afterwards.  A plan that
 * cannot be followed ends the job with one sentence naming the line. */
struct mg_plan mg_plan_read(const char *path);
void           mg_plan_free(struct mg_plan *plan);

/* A key of a visit whose value is a word: what it is where the plan has none, and what it means. */
struct mg_plan_word {
    const char *name;
    const char *usual;
    const char *about;
    void (*read)(int line, const char *text, struct mg_visit *visit);
};

/* NULL after the last one. */
const struct mg_plan_word *mg_plan_word_at(size_t i);

#endif
