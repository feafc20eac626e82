/* orphan.h - ends this rank, and with it the job, when whoever started it is gone. */
#ifndef MG_ORPHAN_H
#define MG_ORPHAN_H

/* Ends this rank when its launcher ends.  Call before MPI_Init, so that the library's threads
 * inherit it. */
void mg_exit_with_launcher(void);

/* Ends this rank when the mpigauge that measures ends, if that runs on this machine and has set
 * MPIGAUGE_OWNER: boot id of the system, a colon, and a named pipe that it keeps open for reading.
 * Launchers may outlive mpigauge without passing on that their own input has ended.  Call before
 * MPI_Init. */
void mg_exit_with_owner(void);

/* Ends the job when the standard input of this rank is closed, after all of it has been read:
 * mpigauge keeps it open as long as it lives.  Not all launchers end with whoever started them. */
void mg_exit_with_input(void);

#endif
