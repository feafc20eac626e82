/* card_facts - speed, MTU, driver and firmware of network cards: differences between hosts may
 * explain a slow one. */
#include "traffic/card_facts.h"

#include "text/small_file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FOLDER_BYTES = PATH_MAX / 2 };

static void read_fact(const char *folder, const char *name, char *text)
{
    mg_small_file_line(folder, name, text, MG_CARD_FACT_BYTES);
}

/* The driver is the name of the folder that the link points to. */
static void read_driver(const char *folder, char *text)
{
    char path[PATH_MAX];
    char target[PATH_MAX];

    (void) snprintf(path, sizeof path, "%s/device/driver", folder);
    const ssize_t length = readlink(path, target, sizeof target - 1);
    if (length <= 0)
        return;
    target[length]   = '\0';
    const char *name = strrchr(target, '/');
    (void) snprintf(text, MG_CARD_FACT_BYTES, "%.*s", MG_CARD_FACT_BYTES - 1,
                    name == NULL ? target : name + 1);
}

static void add_ip(const char *root, struct mg_card *card)
{
    char       folder[FOLDER_BYTES];
    char       speed[MG_CARD_FACT_BYTES] = "";
    const char unit[]                    = " Mbit/s";

    (void) snprintf(folder, sizeof folder, "%s/sys/class/net/%s", root, card->name);
    read_fact(folder, "speed", speed);
    if (strtol(speed, NULL, 10) > 0) /* -1 = not known */
        (void) snprintf(card->speed, sizeof card->speed, "%.*s%s",
                        (int) (sizeof card->speed - sizeof unit), speed, unit);
    read_fact(folder, "mtu", card->mtu);
    read_driver(folder, card->driver);
}

/* The state is "4: ACTIVE" or "5: ACTIVE_DEFER"; without one the port counts as up. */
static bool is_up(const char *folder, const char *port)
{
    char name[PATH_MAX];
    char state[MG_CARD_FACT_BYTES] = "";

    (void) snprintf(name, sizeof name, "ports/%s/state", port);
    read_fact(folder, name, state);
    return state[0] == '\0' || state[0] == '4' || state[0] == '5';
}

/* "mlx5_0/1" is port 1 of mlx5_0; a card without ports has no slash.  The system has a rate even
 * for a port without a cable, so the state is asked first. */
static void add_rdma(const char *root, struct mg_card *card)
{
    const char *slash  = strchr(card->name, '/');
    const int   length = slash == NULL ? (int) strlen(card->name) : (int) (slash - card->name);
    char        folder[FOLDER_BYTES];
    char        rate[PATH_MAX];

    (void) snprintf(folder, sizeof folder, "%s/sys/class/infiniband/%.*s", root, length,
                    card->name);
    read_fact(folder, "fw_ver", card->firmware);
    read_driver(folder, card->driver);
    if (slash == NULL || !is_up(folder, slash + 1))
        return;
    (void) snprintf(rate, sizeof rate, "ports/%s/rate", slash + 1);
    read_fact(folder, rate, card->speed);
}

void mg_card_facts_add(const char *root, struct mg_card *card)
{
    if (card->is_rdma)
        add_rdma(root, card);
    else
        add_ip(root, card);
}
