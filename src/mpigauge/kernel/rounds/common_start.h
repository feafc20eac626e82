/* common_start.h - rounds that all ranks start together. */
#ifndef MG_COMMON_START_H
#define MG_COMMON_START_H

#include "memory/payload.h"
#include "rounds/samples.h"
#include "rounds/visits.h"

/* The `run` of a sampling: up to `count` samples, none begun after limit_ns. */
void mg_rounds_common(const struct mg_visit *visit, struct mg_state *state, struct mg_walk *walk,
                      int batch, int count, int64_t limit_ns, struct mg_rounds *rounds);
void mg_common_start_free(void);

#endif
