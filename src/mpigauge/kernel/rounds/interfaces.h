/* interfaces.h - what the IP interfaces of this host, or of its namespace, have carried. */
#ifndef MG_INTERFACES_H
#define MG_INTERFACES_H

#include "rounds/traffic.h"

#include <stdbool.h>

/* root comes before the path of every file: "" but for tests. */
void mg_interfaces_open(const char *root);
void mg_interfaces_close(void);

/* All of them together, and one by one behind those in `each`; false if they cannot be read. */
bool mg_interfaces_read(struct mg_traffic *carried, struct mg_each_card *each);

/* The first of them, at most `room`; how many these are.  The file itself, not counted, if it
 * cannot be read. */
int mg_interfaces_list(struct mg_card *cards, int room);

#endif
