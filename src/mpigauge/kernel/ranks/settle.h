/* settle.h - a pause before a visit, in which its first line leaves the host. */
#ifndef MG_SETTLE_H
#define MG_SETTLE_H

/* Sleeps for a moment, so that the launcher passes on the first line of a visit now and not during
 * its rounds.  What follows must keep the core busy before anything is timed. */
void mg_settle(void);

#endif
