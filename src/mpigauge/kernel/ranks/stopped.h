/* stopped.h - whether this rank was stopped and goes on: by Ctrl-Z, a scheduler, a debugger, or
 * with the whole machine. */
#ifndef MG_STOPPED_H
#define MG_STOPPED_H

/* From now on it is noticed.  Before MPI_Init, whose threads then have it, too. */
void mg_stopped_heed(void);

/* How often that has happened until now; may be asked in a handler. */
int mg_stopped_times(void);

#endif
