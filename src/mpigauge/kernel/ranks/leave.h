/* leave.h - ranks that nobody waits for any more. */
#ifndef MG_LEAVE_H
#define MG_LEAVE_H

#include <stdint.h>

/* From now on this rank ends when whoever started it does.  Before MPI_Init, whose threads then
 * have it, too. */
void mg_leave_with_launcher(void);

/* Unless one of these is called within so many ns, this rank ends with a sentence.  For launches
 * that nobody watches from outside: what hangs would hold its nodes until the job's time is over.
 */
void mg_leave_after(int64_t limit_ns, const char *words);
void mg_leave_later(void); /* the same limit, if there is one, from now on */
void mg_leave_never(void);

#endif
