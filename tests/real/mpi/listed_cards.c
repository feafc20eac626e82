/* listed_cards COUNT - prints as many cards as COUNT, one per line, then a line `listed` and the
 * cards of the list: rank, name, whether it is counted, and bytes. */
#include "traffic/visit_traffic.c" /* for its static list */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { RANKS = 7, LOST_ONE_IN = 20, BYTES = 50 };

bool mg_speaks_for_host(const struct mg_visit *visit, const struct mg_state *state)
{
    return visit != NULL && state != NULL;
}

int mg_far_rank(const struct mg_visit *visit, const struct mg_state *state)
{
    return visit != NULL && state != NULL ? 1 : -1;
}

static void say(const struct mg_listed_card *listed)
{
    (void) printf("%d %s %d %" PRId64 "\n", listed->rank, listed->card.name,
                  listed->card.is_counted, both_directions(listed));
}

/* Many carry the same, so that ranks and names decide. */
static struct mg_listed_card card(int number)
{
    const int             odd    = number * 7919 % 1009;
    struct mg_listed_card listed = {.rank = odd % RANKS};

    listed.card.is_counted = odd % LOST_ONE_IN != 0;
    if (listed.card.is_counted)
        listed.card.traffic = (struct mg_traffic){odd % BYTES, 1};
    (void) snprintf(listed.card.name, sizeof listed.card.name, "c%04d", odd);
    return listed;
}

int main(int argc, char **argv)
{
    const int count = argc == 2 ? (int) strtol(argv[1], NULL, 10) : 0;

    for (int i = 0; i < count; i++) {
        const struct mg_listed_card listed = card(i);

        say(&listed);
        add(&listed);
    }
    (void) printf("listed\n");
    for (int i = 0; i < own.count; i++)
        say(&own.listed[i]);
    return EXIT_SUCCESS;
}
