/* plan_text.h - the text of the plan, from a file or in the parts that come when asked for. */
#ifndef MG_PLAN_TEXT_H
#define MG_PLAN_TEXT_H

/* Without its line `end`: on rank 0 the whole, on others what concerns them, which is the whole but
 * for pairs of others; to be freed.  Collective over the world. */
char *mg_plan_text(const char *path);

#endif
