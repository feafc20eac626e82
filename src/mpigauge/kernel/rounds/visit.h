/* visit.h - the life of a visit, as those see it who decide on its turn. */
#ifndef MG_VISIT_H
#define MG_VISIT_H

#include "rounds/cell.h"

/* On all ranks of the group, which agree on the decision. */
void mg_perform(struct mg_run *run, const struct mg_visit *visit, struct mg_state *state,
                struct mg_cell *cell, struct mg_decision *decision);

#endif
