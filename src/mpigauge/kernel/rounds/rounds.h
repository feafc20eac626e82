/* rounds.h - series of rounds timed by the clock of one rank; each is the `run` of a sampling. */
#ifndef MG_ROUNDS_H
#define MG_ROUNDS_H

#include "memory/payload.h"
#include "rounds/samples.h"
#include "rounds/visits.h"

void mg_rounds_chained(const struct mg_visit *visit, struct mg_state *state, struct mg_walk *walk,
                       int batch, int count, int64_t limit_ns, struct mg_rounds *rounds);
void mg_rounds_prepared(const struct mg_visit *visit, struct mg_state *state, struct mg_walk *walk,
                        int batch, int count, int64_t limit_ns, struct mg_rounds *rounds);
void mg_rounds_acked(const struct mg_visit *visit, struct mg_state *state, struct mg_walk *walk,
                     int batch, int count, int64_t limit_ns, struct mg_rounds *rounds);

#endif
