/* counted_cards ROOT - the cards of a machine that is made up below ROOT, then a line of what they
 * have carried since the start, together and each, for every line of standard input. */
#include "traffic/cards.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void say_cards(void)
{
    struct mg_card cards[MG_CARDS_MAX];
    const int      count = mg_cards_list(cards);

    for (int i = 0; i < count; i++) {
        const char *facts[] = {cards[i].speed, cards[i].mtu, cards[i].driver, cards[i].firmware};

        (void) printf("%s %s %s", cards[i].name, cards[i].is_rdma ? "rdma" : "ip",
                      cards[i].is_counted ? "counted" : "uncounted");
        for (size_t fact = 0; fact < sizeof facts / sizeof *facts; fact++)
            (void) printf(*facts[fact] ? " %s" : "%s", facts[fact]);
        (void) printf("\n");
    }
    (void) printf("\n");
}

static void say_each(const struct mg_card_list *each)
{
    for (int i = 0; i < each->count; i++) {
        const struct mg_card_traffic *card = &each->cards[i];

        if (card->is_counted)
            (void) printf(" %s=%" PRId64 "/%" PRId64, card->name, card->traffic.received_bytes,
                          card->traffic.sent_bytes);
        else
            (void) printf(" %s=?", card->name);
    }
    (void) printf("\n");
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return EXIT_FAILURE;
    mg_cards_open(argv[1]);
    say_cards();

    struct mg_card_reading begin;
    struct mg_card_reading reading;

    mg_cards_read(&begin, true);
    do {
        mg_cards_read(&reading, true);
        mg_cards_subtract(&begin, &reading);
        (void) printf("%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64,
                      reading.ip.received_bytes, reading.ip.sent_bytes, reading.rdma.received_bytes,
                      reading.rdma.sent_bytes, reading.uncounted);
        say_each(&reading.each);
        (void) fflush(stdout);
    } while (getchar() != EOF);
    mg_cards_free();
    return EXIT_SUCCESS;
}
