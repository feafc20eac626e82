/* leave.h - ranks that nobody waits for any more. */
#ifndef MG_LEAVE_H
#define MG_LEAVE_H

#include <stdint.h>

/* From now on this rank ends when whoever started it does.  Before MPI_Init, whose threads then
 * have it, too. */
void mg_leave_with_launcher(void);

/* From now on it ends when whoever measures does, if that is on this machine and says so in
 * MPIGAUGE_OWNER: the system's boot, a colon, and a named pipe that it reads as long as it lives.
 * Launchers may live on, and not hand on that their own input has ended.  Before MPI_Init. */
void mg_leave_with_owner(void);

/* It ends, too, if the next does not come within minutes. */
void mg_leave_unless_started(void);

/* The job is whole: it has its plan. */
void mg_leave_started(void);

/* From now on the job ends when the standard input of this rank does, of which all has been read:
 * whoever started it keeps that open.  Not all launchers die with who started them. */
void mg_leave_with_input(void);

/* Unless one of these is called within so many ns, this rank ends with a sentence.  For launches
 * that nobody watches from outside: what hangs would hold its nodes until the job's time is over.
 */
void mg_leave_after(int64_t limit_ns, const char *words);
void mg_leave_later(void); /* the same limit, if there is one, from now on */
void mg_leave_never(void);

#endif
