/* topology - reads the lanes and routes of the relay. */
#include "topology.h"

#include "die.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DELAY_MAX_NS 100e9

enum { LANES_MAX = 2 * LAB_HOSTS_MAX * LAB_HOSTS_MAX };

int              lab_hosts;
struct lab_route lab_routes[LAB_HOSTS_MAX + 1][LAB_HOSTS_MAX + 1];

static struct lab_lane lanes[LANES_MAX];
static int             lane_count;

static double next_number(char **text_p, double least, double most)
{
    char        *end;
    const double number = strtod(*text_p, &end);

    if (end == *text_p || !(number >= least && number <= most))
        lab_die(*text_p, "is no number that the topology can have here");
    *text_p = end;
    return number;
}

static int next_index(char **text_p, int least, int most)
{
    return (int) next_number(text_p, least, most);
}

static void add_lane(char *numbers)
{
    const double bytes_per_s = next_number(&numbers, 0, INFINITY);

    if (lane_count == LANES_MAX)
        lab_die("topology", "too many lanes");
    lanes[lane_count++] = (struct lab_lane){bytes_per_s > 0 ? LAB_SECOND_NS / bytes_per_s : 0, 0};
}

static void add_route(char *numbers)
{
    const int    from     = next_index(&numbers, 1, lab_hosts);
    const int    to       = next_index(&numbers, 1, lab_hosts);
    const int    up       = next_index(&numbers, 0, lane_count - 1);
    const int    down     = next_index(&numbers, 0, lane_count - 1);
    const double delay_ns = next_number(&numbers, 0, DELAY_MAX_NS);

    lab_routes[from][to] = (struct lab_route){&lanes[up], &lanes[down], (int64_t) delay_ns};
}

/* The rest of a line that begins with a word, or NULL. */
static char *after(char *line, const char *word)
{
    const size_t length = strlen(word);

    return strncmp(line, word, length) == 0 ? line + length : NULL;
}

void lab_read_topology(void)
{
    char line[256];

    while (fgets(line, sizeof line, stdin) != NULL) {
        char *numbers;

        if ((numbers = after(line, "route ")) != NULL)
            add_route(numbers);
        else if ((numbers = after(line, "lane ")) != NULL)
            add_lane(numbers);
        else if ((numbers = after(line, "hosts ")) != NULL)
            lab_hosts = next_index(&numbers, 1, LAB_HOSTS_MAX);
        else if (strcmp(line, "end\n") == 0)
            return;
        else
            lab_die(line, "is no line of a topology");
    }
    lab_die("topology", "has no end");
}
