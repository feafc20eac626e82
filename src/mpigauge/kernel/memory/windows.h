/* windows.h - windows of one-sided operations: made once per launch, for all visits that need one.
 */
#ifndef MG_WINDOWS_H
#define MG_WINDOWS_H

#include "rounds/visits.h"

#include <stddef.h>

/* Makes a window for each group and kind of the plan, large enough for all of their visits.
 * Collective over the world.  exposed_by: how many bytes a visit needs on each rank */
void mg_windows_make(const struct mg_plan *plan, size_t (*exposed_by)(const struct mg_visit *));
void mg_windows_free(void);

/* The window of a visit, on the ranks that take part; NULL, and the reason, if it could not be
 * made. */
const struct mg_window *mg_window_of(const struct mg_visit *visit, const char **why_p);

/* Makes a window of one page and frees it.  Collective over comm. */
void mg_window_make_and_free(MPI_Comm comm, enum mg_window_kind kind);

#endif
