/* visit.h - makes one visit. */
#ifndef MG_VISIT_H
#define MG_VISIT_H

#include "rounds/cell.h"

/* Collective over the group, with the same decision on all ranks. */
void mg_visit_run(struct mg_run *run, const struct mg_visit *visit, struct mg_state *state,
                  struct mg_cell *cell, struct mg_decision *decision);

#endif
