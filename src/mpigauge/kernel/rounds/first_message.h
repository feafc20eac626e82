/* first_message.h - what the very first message of a program takes, with all that it sets up. */
#ifndef MG_FIRST_MESSAGE_H
#define MG_FIRST_MESSAGE_H

#include <stdint.h>

/* An empty message from rank 0 to rank 1 and back, by the clock of rank 0; -1 elsewhere, and where
 * there is one rank alone.  Collective, and to be called before any other communication. */
int64_t mg_first_round_trip_ns(void);

#endif
