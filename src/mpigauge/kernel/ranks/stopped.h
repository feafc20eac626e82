/* stopped.h - how often this rank was stopped and continued. */
#ifndef MG_STOPPED_H
#define MG_STOPPED_H

/* Starts counting.  Call before MPI_Init, so that the library's threads inherit it. */
void mg_stopped_watch(void);

/* How often until now.  Safe in a signal handler. */
int mg_stopped_count(void);

#endif
