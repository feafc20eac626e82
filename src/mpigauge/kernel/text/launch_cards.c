/* launch_cards - gathers and writes the network cards of all hosts of a launch. */
#include "text/launch_cards.h"

#include "ranks/abort.h"
#include "ranks/hosts.h"
#include "text/json.h"
#include "traffic/cards.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- From all hosts -------------------------------------------------------------------------- */

static void *array_of(size_t count, size_t bytes)
{
    void *array = calloc(count > 0 ? count : 1, bytes);

    if (array == NULL)
        MG_DIE("no memory for %zu network cards", count);
    return array;
}

/* Displacements of the cards of every rank, in bytes, and the total. */
static int *places_of(const int *bytes, int ranks)
{
    int *places = array_of((size_t) ranks + 1, sizeof *places);

    for (int rank = 0; rank < ranks; rank++)
        places[rank + 1] = places[rank] + bytes[rank];
    return places;
}

/* Makes room for the cards that the first rank of each host has sent. */
static struct mg_launch_cards by_host(const struct mg_hosts *hosts, const int *bytes)
{
    const size_t           ranks = (size_t) hosts->ranks;
    struct mg_launch_cards all   = {.leaders = array_of(ranks, sizeof *all.leaders),
                                    .counts  = array_of(ranks, sizeof *all.counts)};

    for (int rank = 0; rank < hosts->ranks; rank++) {
        if (hosts->leader_of[rank] != rank)
            continue;
        all.leaders[all.hosts]  = rank;
        all.counts[all.hosts++] = bytes[rank] / (int) sizeof *all.cards;
    }
    return all;
}

struct mg_launch_cards mg_launch_cards_gather(void)
{
    const struct mg_hosts *hosts = mg_hosts();
    struct mg_card         own[MG_CARDS_MAX];
    const bool             leads = hosts->leader_of[hosts->rank] == hosts->rank;
    const int              here  = leads ? mg_cards_list(own) * (int) sizeof *own : 0;
    int                   *bytes = array_of((size_t) hosts->ranks, sizeof *bytes);
    struct mg_launch_cards all   = {0};

    MG_MPI(MPI_Gather(&here, 1, MPI_INT, bytes, 1, MPI_INT, 0, MPI_COMM_WORLD));
    int *places = places_of(bytes, hosts->ranks);
    if (hosts->rank == 0) {
        all       = by_host(hosts, bytes);
        all.cards = array_of((size_t) places[hosts->ranks], 1);
    }
    MG_MPI(MPI_Gatherv(own, here, MPI_BYTE, all.cards, bytes, places, MPI_BYTE, 0, MPI_COMM_WORLD));
    free(bytes);
    free(places);
    return all;
}

void mg_launch_cards_free(struct mg_launch_cards *all)
{
    free(all->leaders);
    free(all->counts);
    free(all->cards);
    *all = (struct mg_launch_cards){0};
}

/* ---- As JSON --------------------------------------------------------------------------------- */

static void put_cards(FILE *out, const struct mg_card *cards, int count)
{
    (void) fprintf(out, "],\"cards\":[");
    for (int i = 0; i < count; i++) {
        (void) fprintf(out, i > 0 ? ",{" : "{");
        mg_json_word(out, "name", cards[i].name);
        (void) fprintf(out, ",\"kind\":\"%s\",\"counted\":%s", cards[i].is_rdma ? "rdma" : "ip",
                       mg_json_bool(cards[i].is_counted));
        mg_json_known(out, "speed", cards[i].speed);
        mg_json_known(out, "mtu", cards[i].mtu);
        mg_json_known(out, "driver", cards[i].driver);
        mg_json_known(out, "firmware", cards[i].firmware);
        (void) fputc('}', out);
    }
    (void) fprintf(out, "]}");
}

static bool is_card_alike(const struct mg_card *a, const struct mg_card *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->speed, b->speed) == 0 &&
           strcmp(a->mtu, b->mtu) == 0 && strcmp(a->driver, b->driver) == 0 &&
           strcmp(a->firmware, b->firmware) == 0 && a->is_rdma == b->is_rdma &&
           a->is_counted == b->is_counted;
}

static bool is_alike(const struct mg_card *a, const struct mg_card *b, int count)
{
    for (int i = 0; i < count; i++)
        if (!is_card_alike(&a[i], &b[i]))
            return false;
    return true;
}

/* The first host with the same cards. */
static int first_like(const struct mg_launch_cards *all, int host, const struct mg_card *cards)
{
    const struct mg_card *others = all->cards;

    for (int other = 0; other < host; others += all->counts[other++])
        if (all->counts[other] == all->counts[host] && is_alike(others, cards, all->counts[host]))
            return other;
    return host;
}

/* For every host, the first one with the same cards. */
static int *first_with_same_cards(const struct mg_launch_cards *all)
{
    int                  *first = array_of((size_t) all->hosts, sizeof *first);
    const struct mg_card *cards = all->cards;

    for (int host = 0; host < all->hosts; cards += all->counts[host++])
        first[host] = first_like(all, host, cards);
    return first;
}

void mg_launch_cards_put(FILE *out, const struct mg_launch_cards *all, mg_name_fn name_of,
                         const void *facts)
{
    int                  *first = first_with_same_cards(all);
    const struct mg_card *cards = all->cards;

    (void) fprintf(out, "\"cards\":[");
    for (int host = 0; host < all->hosts; cards += all->counts[host++]) {
        if (first[host] != host)
            continue;
        (void) fprintf(out, host > 0 ? ",{\"hosts\":[" : "{\"hosts\":[");
        for (int like = host; like < all->hosts; like++)
            if (first[like] == host) {
                (void) fprintf(out, like > host ? "," : "");
                mg_json_string(out, name_of(facts, all->leaders[like]));
            }
        put_cards(out, cards, all->counts[host]);
    }
    (void) fputc(']', out);
    free(first);
}
