/* card_facts.h - speed, MTU, driver and firmware of network cards. */
#ifndef MG_CARD_FACTS_H
#define MG_CARD_FACTS_H

#include "traffic/traffic.h"

/* Fills in the facts of a card, given its name and class.  root is a prefix of all paths: "" except
 * in tests. */
void mg_card_facts_add(const char *root, struct mg_card *card);

#endif
