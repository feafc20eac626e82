/* plan_text.h - the text of the plan, from a file or in the parts that come when asked for. */
#ifndef MG_PLAN_TEXT_H
#define MG_PLAN_TEXT_H

/* Without its line `end`, on all ranks; to be freed. */
char *mg_plan_text(const char *path);

#endif
