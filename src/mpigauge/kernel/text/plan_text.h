/* plan_text.h - the text of the plan, read on rank 0 and sent to the others. */
#ifndef MG_PLAN_TEXT_H
#define MG_PLAN_TEXT_H

/* The text without its line `end`, to be freed: all of it on rank 0, and without most lines of
 * pairs of others on other ranks.  Collective over the world. */
char *mg_plan_text(const char *path);

#endif
