/* host_cards - the cards of four hosts that are made up, as the launch line has them. */
#include "text/launch_cards.h"

#include <stdlib.h>

static const char *host_of(const void *facts, int rank)
{
    return ((const char *const *) facts)[rank];
}

int main(void)
{
    const char            *names[]   = {"h1", "", "h2", "h3", "h4"};
    int                    leaders[] = {0, 2, 3, 4};
    int                    counts[]  = {1, 2, 1, 0};
    struct mg_card         cards[]   = {{.name = "eth0", .is_counted = true},
                                        {.name = "efa_0/1", .is_rdma = true},
                                        {.name = "eth0", .is_counted = true},
                                        {.name = "eth0", .is_counted = true}};
    struct mg_launch_cards all       = {4, leaders, counts, cards};

    (void) printf("{");
    mg_launch_cards_put(stdout, &all, host_of, (const void *) names);
    (void) printf("}\n");
    return EXIT_SUCCESS;
}
