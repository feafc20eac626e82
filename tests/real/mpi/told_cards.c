/* told_cards COUNT - as many cards as COUNT, one a line, then a line `told` and those that are
 * told: rank, name, whether it is counted, and bytes. */
#include "rounds/carried.c" /* for its list, which nobody else sees */

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

static void say(const struct mg_told_card *told)
{
    (void) printf("%d %s %d %" PRId64 "\n", told->rank, told->card.name, told->card.is_counted,
                  both_ways(told));
}

/* Many carry the same, so that ranks and names decide. */
static struct mg_told_card card(int number)
{
    const int           odd  = number * 7919 % 1009;
    struct mg_told_card told = {.rank = odd % RANKS};

    told.card.is_counted = odd % LOST_ONE_IN != 0;
    if (told.card.is_counted)
        told.card.carried = (struct mg_traffic){odd % BYTES, 1};
    (void) snprintf(told.card.name, sizeof told.card.name, "c%04d", odd);
    return told;
}

int main(int argc, char **argv)
{
    const int count = argc == 2 ? (int) strtol(argv[1], NULL, 10) : 0;

    for (int i = 0; i < count; i++) {
        const struct mg_told_card told = card(i);

        say(&told);
        add(&told);
    }
    (void) printf("told\n");
    for (int i = 0; i < own.count; i++)
        say(&own.told[i]);
    return EXIT_SUCCESS;
}
