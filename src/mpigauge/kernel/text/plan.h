/* plan.h - parses the plan. */
#ifndef MG_PLAN_H
#define MG_PLAN_H

#include "rounds/visits.h"

enum {
    MG_PLAN_VERSION = 2 /* of plan and journal; mpigauge refuses a kernel with another version */
};

/* Reads the plan on rank 0 from a file (- = standard input) and sends it to all ranks.  An error in
 * it ends the job with a sentence that names the line. */
struct mg_plan mg_plan_read(const char *path);
void           mg_plan_free(struct mg_plan *plan);

/* A key of a visit whose value is a word: name, default, meaning. */
struct mg_plan_word {
    const char *name;
    const char *usual;
    const char *about;
    void (*read)(int line, const char *text, struct mg_visit *visit);
};

/* NULL after the last. */
const struct mg_plan_word *mg_plan_word_at(size_t i);

#endif
