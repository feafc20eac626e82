/* settle.h - a pause before a visit, for those who carry its first line away. */
#ifndef MG_SETTLE_H
#define MG_SETTLE_H

/* Lets this core go for a moment: launcher and campaign take a line away now, not during the
 * rounds. What follows must keep the core busy before anything is timed. */
void mg_settle(void);

#endif
