/* card_facts - what the system says of a network card. */
#ifndef MG_CARD_FACTS_H
#define MG_CARD_FACTS_H

#include "rounds/traffic.h"

/* Adds speed, MTU, driver and firmware to a card that has its name.  root: "", or a folder in place
 * of /. */
void mg_card_facts_add(const char *root, struct mg_card *card);

#endif
