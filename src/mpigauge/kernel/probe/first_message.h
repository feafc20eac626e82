/* first_message.h - the time of the first message of a program, with all that it sets up. */
#ifndef MG_FIRST_MESSAGE_H
#define MG_FIRST_MESSAGE_H

#include <stdint.h>

/* The time of an empty message from rank 0 to rank 1 and back; -1 on other ranks, and if there is
 * one rank only.  Collective over the world; call before any other communication. */
int64_t mg_first_round_trip_ns(void);

#endif
