/* interfaces.h - traffic of the IP interfaces of this host, or of its network namespace. */
#ifndef MG_INTERFACES_H
#define MG_INTERFACES_H

#include "traffic/traffic.h"

#include <stdbool.h>

/* root is a prefix of all paths: "" except in tests. */
void mg_interfaces_open(const char *root);
void mg_interfaces_close(void);

/* Reads the sum over all interfaces and appends each of them; false if they cannot be read. */
bool mg_interfaces_read(struct mg_traffic *traffic, struct mg_card_list *each);

/* Lists the first `room` interfaces; returns how many.  If the file cannot be read, lists the file
 * itself as not counted. */
int mg_interfaces_list(struct mg_card *cards, int room);

#endif
