/* plan - parses the plan: a line of limits, lines of groups of ranks, one line per visit, all of
 * key=value words, and the line `end`. */
#include "text/plan.h"

#include "patterns/calls.h"
#include "patterns/registry.h"
#include "ranks/abort.h"
#include "ranks/groups.h"
#include "rounds/sampling.h"
#include "text/plan_text.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A key, where its number is stored, and its range. */
struct key {
    const char *name;
    int64_t    *value_p;
    int64_t     least;
    int64_t     most;
};

/* ---- Words ----------------------------------------------------------------------------------- */

static void read_number(int line, const struct key *key, const char *text)
{
    char   *end   = NULL;
    int64_t value = 0;

    errno = 0;
    value = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < key->least || value > key->most)
        MG_DIE("plan line %d: %s is '%s', not a whole number from %" PRId64 " to %" PRId64, line,
               key->name, text, key->least, key->most);
    *key->value_p = value;
}

static const struct key *find_key(const struct key *keys, const char *name)
{
    for (; keys->name != NULL; keys++)
        if (strcmp(keys->name, name) == 0)
            return keys;
    return NULL;
}

/* Splits "name=text" in place. */
static char *split(int line, char *word)
{
    char *equals = strchr(word, '=');

    if (equals == NULL)
        MG_DIE("plan line %d: '%s' is not of the form key=value", line, word);
    *equals = '\0';
    return equals + 1;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static void read_launch(int line, char *words, struct mg_plan *plan)
{
    int64_t version = 0;
    int64_t ranks = 0, cores = 0, visits = 0, least = 0, most = 0, ppm = 0, watched = 0;
    char   *rest = NULL;

    const struct key keys[] = {
        {"version", &version, MG_PLAN_VERSION, MG_PLAN_VERSION},
        {"ranks", &ranks, 1, INT_MAX},
        {"cores", &cores, 1, INT_MAX},
        {"visits_per_cell", &visits, 1, 1000000},
        {"rounds_min", &least, 1, 100000000},
        {"rounds_max", &most, 1, 100000000},
        {"precision_ppm", &ppm, 1, 1000000},
        {"cell_ns", &plan->cell_ns, 1, MG_TIME_MAX_NS},
        {"deadline_ns", &plan->deadline_ns, 1, MG_TIME_MAX_NS},
        {"warmup_ns", &plan->warmup_ns, 0, MG_TIME_MAX_NS},
        {"warmup_bytes", &plan->warmup_bytes, 0, INT64_MAX},
        {"hang_ns", &plan->hang_ns, 0, MG_TIME_MAX_NS},
        {"watched", &watched, 0, 1},
        {"pool_caches", &plan->pool_caches, 0, 1000},
        {0},
    };
    for (char *word = strtok_r(words, " ", &rest); word != NULL;
         word       = strtok_r(NULL, " ", &rest)) {
        const char       *text = split(line, word);
        const struct key *key  = find_key(keys, word);

        if (key == NULL)
            MG_DIE("plan line %d: a launch has no key '%s'", line, word);
        read_number(line, key, text);
    }
    for (const struct key *key = keys; key->name != NULL; key++)
        if (*key->value_p == 0 && key->least > 0)
            MG_DIE("plan line %d: the launch lacks '%s'", line, key->name);
    plan->ranks           = (int) ranks;
    plan->cores           = (int) cores;
    plan->visits_per_cell = (int) visits;
    plan->rounds_min      = (int) least;
    plan->rounds_max      = (int) most;
    plan->precision_ppm   = (int) ppm;
    plan->watched         = watched != 0;
}

static const char *const start_names[] = {
    [MG_START_COMMON]      = "common",
    [MG_START_BARRIER]     = "barrier",
    [MG_START_MPI_BARRIER] = "mpi_barrier",
};

static void read_start(int line, const char *text, struct mg_visit *visit)
{
    for (size_t i = 0; i < sizeof start_names / sizeof *start_names; i++)
        if (strcmp(text, start_names[i]) == 0) {
            visit->start = (enum mg_start) i;
            return;
        }
    MG_DIE("plan line %d: sync is '%.40s', not common, barrier or mpi_barrier", line, text);
}

static void read_pair(int line, const char *text, struct mg_visit *visit)
{
    char *end = NULL;

    errno            = 0;
    const long first = strtol(text, &end, 10);
    const long last  = *end == '-' ? strtol(end + 1, &end, 10) : -1;
    if (errno != 0 || *end != '\0' || first < 0 || last <= first || last > INT_MAX)
        MG_DIE("plan line %d: pair is '%.40s', not two ranks like 0-3", line, text);
    visit->pair[0] = (int) first;
    visit->pair[1] = (int) last;
}

/* ---- Groups ---------------------------------------------------------------------------------- */

static long read_rank(int line, const char **at_p)
{
    char *end = NULL;

    errno           = 0;
    const long rank = strtol(*at_p, &end, 10);
    if (errno != 0 || end == *at_p || **at_p < '0' || **at_p > '9' || rank > INT_MAX)
        MG_DIE("plan line %d: '%.40s' is no list of ranks like 0-3,8,16-30:2", line, *at_p);
    *at_p = end;
    return rank;
}

static void add_rank(int line, long rank, int ranks, int here, bool *taken,
                     struct mg_members *members)
{
    if (rank >= ranks)
        MG_DIE("plan line %d: this job has no rank %ld", line, rank);
    if (taken[rank])
        MG_DIE("plan line %d: rank %ld is in the group twice", line, rank);
    taken[rank] = true;
    if (rank == here)
        members->place = members->count;
    members->ranks[members->count++] = (int) rank;
}

/* One rank, or a range `0-6` or `0-6:2`. */
static const char *read_range(int line, const char *at, int ranks, int here, bool *taken,
                              struct mg_members *members)
{
    const long first = read_rank(line, &at);
    long       last  = first;
    long       by    = 1;

    if (*at == '-') {
        at++;
        last = read_rank(line, &at);
        if (*at == ':') {
            at++;
            by = read_rank(line, &at);
        }
    }
    if (last < first || by < 1)
        MG_DIE("plan line %d: a range of ranks goes upwards, like 0-6:2", line);
    for (long rank = first; rank <= last; rank += by)
        add_rank(line, rank, ranks, here, taken, members);
    return at;
}

static struct mg_members *members_of(int line, const char *text, int ranks, int here)
{
    struct mg_members *members = calloc(1, sizeof *members);
    int               *list    = malloc((size_t) ranks * sizeof *list);
    bool              *taken   = calloc((size_t) ranks, sizeof *taken);

    if (members == NULL || list == NULL || taken == NULL)
        MG_DIE("no memory for a group of %d ranks", ranks);
    members->place = -1;
    members->ranks = list;
    for (const char *at = text;; at++) {
        at = read_range(line, at, ranks, here, taken, members);
        if (*at == '\0')
            break;
        if (*at != ',')
            MG_DIE("plan line %d: '%.40s' is no list of ranks like 0-3,8,16-30:2", line, at);
    }
    free(taken);
    int *fitting = realloc(list, (size_t) members->count * sizeof *fitting);
    if (fitting != NULL)
        members->ranks = fitting;
    return members;
}

static void read_group(int line, char *words, struct mg_plan *plan, int here)
{
    int64_t          id     = -1;
    const char      *ranks  = NULL;
    char            *rest   = NULL;
    const struct key keys[] = {{"id", &id, 0, INT_MAX - 1}, {0}};

    for (char *word = strtok_r(words, " ", &rest); word != NULL;
         word       = strtok_r(NULL, " ", &rest)) {
        const char *text = split(line, word);

        if (strcmp(word, "ranks") == 0)
            ranks = text;
        else if (strcmp(word, "id") == 0)
            read_number(line, &keys[0], text);
        else
            MG_DIE("plan line %d: a group has no key '%s'", line, word);
    }
    if (id < 0 || ranks == NULL)
        MG_DIE("plan line %d: a group needs id and ranks", line);
    const int last = plan->groups_count - 1;
    if (last >= 0 && plan->groups[last]->id >= id)
        MG_DIE("plan line %d: groups have ascending ids, and %" PRId64 " comes after %d", line, id,
               plan->groups[last]->id);
    struct mg_members  *members = members_of(line, ranks, plan->ranks, here);
    struct mg_members **more    = (struct mg_members **) realloc(
        (void *) plan->groups, ((size_t) plan->groups_count + 1) * sizeof *more);

    if (more == NULL)
        MG_DIE("no memory for the groups of the plan");
    if (members->count < 2)
        MG_DIE("plan line %d: a group has two ranks or more", line);
    members->id                        = (int) id;
    members->index                     = plan->groups_count;
    plan->groups                       = more;
    plan->groups[plan->groups_count++] = members;
}

static int by_id(const void *key, const void *element)
{
    const int id    = *(const int *) key;
    const int other = (*(struct mg_members *const *) element)->id;

    return (id > other) - (id < other);
}

static const struct mg_members *find_group(int line, const struct mg_plan *plan, int id)
{
    if (id < 0)
        return NULL;
    struct mg_members *const *found =
        plan->groups_count == 0
            ? NULL
            : (struct mg_members *const *) bsearch(&id, (const void *) plan->groups,
                                                   (size_t) plan->groups_count,
                                                   sizeof(struct mg_members *), by_id);
    if (found == NULL)
        MG_DIE("plan line %d: no line before it has a group %d", line, id);
    return *found;
}

/* ---- Visits ---------------------------------------------------------------------------------- */

static void read_datatype(int line, const char *text, struct mg_visit *visit)
{
    visit->datatype = mg_datatype_find(text);
    if (visit->datatype == NULL)
        MG_DIE("plan line %d: no datatype is called '%.40s'", line, text);
}

static void read_operation(int line, const char *text, struct mg_visit *visit)
{
    visit->operation = mg_operation_find(text);
    if (visit->operation == NULL)
        MG_DIE("plan line %d: no operation is called '%.40s'", line, text);
}

static const char *const window_names[] = {
    [MG_WINDOW_ALLOCATE] = "allocate",
    [MG_WINDOW_CREATE]   = "create",
    [MG_WINDOW_DYNAMIC]  = "dynamic",
    [MG_WINDOW_SHARED]   = "shared",
};

static void read_window(int line, const char *text, struct mg_visit *visit)
{
    for (size_t i = 0; i < sizeof window_names / sizeof *window_names; i++)
        if (strcmp(text, window_names[i]) == 0) {
            visit->rma_window = (enum mg_window_kind) i;
            return;
        }
    MG_DIE("plan line %d: rma_window is '%.40s', not allocate, create, dynamic or shared", line,
           text);
}

static const struct mg_plan_word words_of_visits[] = {
    {"sync", "common", "of collectives: `common`, `barrier` or `mpi_barrier`", read_start},
    {"datatype", "", "of reductions, which need it; names as in a plan file", read_datatype},
    {"op", "", "of reductions, which need it; names as in a plan file", read_operation},
    {"rma_window", "allocate",
     "of one-sided operations, how their memory was made: `allocate`, `create`, `dynamic` or "
     "`shared`",
     read_window},
    {"pair", "", "of patterns of two ranks: which two, the lower first, `0-3`; else ranks 0 and 1",
     read_pair},
};

const struct mg_plan_word *mg_plan_word_at(size_t i)
{
    return i < sizeof words_of_visits / sizeof *words_of_visits ? &words_of_visits[i] : NULL;
}

/* False if it is not one of these. */
static bool read_word(int line, const char *key, const char *text, struct mg_visit *visit)
{
    for (size_t i = 0; mg_plan_word_at(i) != NULL; i++)
        if (strcmp(key, mg_plan_word_at(i)->name) == 0) {
            mg_plan_word_at(i)->read(line, text, visit);
            return true;
        }
    return false;
}

/* Whether its calls count elements by int, even where MPI has large counts for messages. */
static bool is_counted(const struct mg_pattern *pattern)
{
    return (pattern->sampling->starts_together && pattern->family != MG_MESSAGE) ||
           pattern->reduces || pattern->counts_int || pattern->bus != MG_BUS_NONE;
}

/* The most bytes that an int can count, as one count or as a displacement among all blocks. */
static size_t counted_most(const struct mg_visit *visit)
{
    const size_t width = visit->pattern->reduces ? visit->datatype->bytes : 1;
    const size_t parts = mg_counts_all(visit->pattern, visit->mode) ? (size_t) visit->ranks : 1;

    return INT_MAX / parts * width;
}

static void check_collective(int line, const struct mg_visit *visit)
{
    const struct mg_pattern *pattern = visit->pattern;
    const char              *name    = pattern->name;

    if (pattern->reduces && (visit->datatype == NULL || visit->operation == NULL))
        MG_DIE("plan line %d: %s needs datatype and op", line, name);
    if (pattern->reduces && !mg_operation_fits(visit->operation, visit->datatype))
        MG_DIE("plan line %d: MPI defines no %s of %s", line, visit->operation->name,
               visit->datatype->name);
    if (pattern->reduces && visit->bytes % visit->datatype->bytes != 0)
        MG_DIE("plan line %d: %zu B are no whole number of %s", line, visit->bytes,
               visit->datatype->name);
    if (visit->in_place && !pattern->may_in_place)
        MG_DIE("plan line %d: %s has no form with MPI_IN_PLACE", line, name);
    if (visit->root >= visit->ranks)
        MG_DIE("plan line %d: rank %d cannot be root of %d ranks", line, visit->root, visit->ranks);
    if (visit->root < 0 && visit->mode->binds_buffers)
        MG_DIE("plan line %d: a persistent %s has one root, it cannot move on", line, name);
    if (is_counted(pattern) && visit->bytes > counted_most(visit))
        MG_DIE("plan line %d: %zu B a rank are more than the counts of %s %s can take", line,
               visit->bytes, name, visit->mode->name);
}

static void check_pair(int line, const struct mg_visit *visit, const struct mg_plan *plan)
{
    const bool named = visit->pair[1] > 0;

    if (named && visit->members != NULL)
        MG_DIE("plan line %d: a visit is of a pair or of a group", line);
    if ((named || visit->members != NULL) != mg_in_step(visit))
        MG_DIE("plan line %d: a pair or group needs a step, and a step one of them", line);
    if (visit->members != NULL && visit->pattern->active_ranks > 0 &&
        visit->pattern->active_ranks != visit->members->count)
        MG_DIE("plan line %d: %s is between %d ranks, not %d", line, visit->pattern->name,
               visit->pattern->active_ranks, visit->members->count);
    if (named && visit->pattern->active_ranks != 2)
        MG_DIE("plan line %d: %s is not between two ranks", line, visit->pattern->name);
    if ((named || visit->members != NULL) && visit->pattern->one_sided)
        MG_DIE("plan line %d: %s has no window of some of the ranks", line, visit->pattern->name);
    if (visit->pair[1] >= plan->ranks)
        MG_DIE("plan line %d: this job has no rank %d", line, visit->pair[1]);
}

/* What a visit has a number of and its mode does not know; NULL if there is nothing. */
static const char *unknown_of(const struct mg_visit *visit)
{
    if (visit->partitions > 0 && !visit->mode->partitioned)
        return "partitions";
    if (visit->tests > 0 && !visit->mode->may_test)
        return "calls of MPI_Test";
    if ((visit->block_bytes > 0 || visit->stride_bytes > 0) && !visit->mode->strided)
        return "blocks";
    return visit->depth > 0 && !visit->pattern->queues ? "queue" : NULL;
}

/* Blocks and partitions divide a message, and blocks do not overlap. */
static void check_parts(int line, const struct mg_visit *visit)
{
    const struct mg_mode *mode  = visit->mode;
    const char           *name  = visit->pattern->name;
    const size_t          block = visit->block_bytes;
    const size_t          parts = (size_t) visit->partitions;

    if (mode->unit_bytes > 0 && visit->bytes % mode->unit_bytes != 0)
        MG_DIE("plan line %d: %s %s works on multiples of %zu B, not on %zu B", line, name,
               mode->name, mode->unit_bytes, visit->bytes);
    if (mode->strided && (block == 0 || visit->bytes % block != 0 || visit->stride_bytes < block))
        MG_DIE("plan line %d: %s %s needs a whole number of blocks that do not overlap, not %zu B "
               "in blocks of %zu B, every %zu B",
               line, name, mode->name, visit->bytes, block, visit->stride_bytes);
    if (mode->strided && visit->stride_bytes > (size_t) MG_BYTES_MAX / (visit->bytes / block))
        MG_DIE("plan line %d: %zu blocks, every %zu B, are more than any memory", line,
               visit->bytes / block, visit->stride_bytes);
    if (unknown_of(visit) != NULL)
        MG_DIE("plan line %d: %s %s has no %s", line, name, mode->name, unknown_of(visit));
    if (mode->partitioned && (parts == 0 || visit->bytes % parts != 0))
        MG_DIE("plan line %d: %s %s needs equal partitions, not %zu of %zu B", line, name,
               mode->name, parts, visit->bytes);
}

static void check_visit(int line, const struct mg_visit *visit, const struct mg_plan *plan)
{
    const char *name  = visit->pattern->name;
    const int   ranks = visit->members != NULL ? visit->members->count : plan->ranks;

    if (visit->pattern->min_ranks > ranks)
        MG_DIE("plan line %d: %s needs %d ranks, this %s has %d", line, name,
               visit->pattern->min_ranks, visit->members != NULL ? "group" : "job", ranks);
    if (visit->mode->lacks != NULL)
        MG_DIE("plan line %d: %s %s needs %s, which this library lacks", line, name,
               visit->mode->name, visit->mode->lacks);
    const bool sends = visit->pattern->family != MG_MEMORY && visit->pattern->family != MG_FLOOR &&
                       !is_counted(visit->pattern);

    if (sends && visit->bytes > INT_MAX && !MG_LARGE_COUNTS)
        MG_DIE("plan line %d: %zu B need the large counts of MPI 4, which this library lacks", line,
               visit->bytes);
    if (visit->mode->most_bytes > 0 && visit->bytes > visit->mode->most_bytes)
        MG_DIE("plan line %d: %s %s is of at most %zu B", line, name, visit->mode->name,
               visit->mode->most_bytes);
    if (visit->pattern->windowed && visit->bytes > (size_t) MG_BYTES_MAX / (size_t) visit->window)
        MG_DIE("plan line %d: %d messages of %zu B are more than any memory", line, visit->window,
               visit->bytes);
    /* One MPI_Waitall has the requests of the windows of all senders. */
    if (visit->pattern->trips == MG_TRIPS_OTHERS && visit->window > INT_MAX / (ranks - 1))
        MG_DIE("plan line %d: windows of %d messages of each of %d ranks are more than an int can "
               "count",
               line, visit->window, ranks - 1);
    if (visit->mode->one_message && visit->window > 1)
        MG_DIE("plan line %d: %s %s sends one message, not a window of %d", line, name,
               visit->mode->name, visit->window);
    if (visit->mode->attaches_buffer && visit->bytes > INT_MAX / 4 - MPI_BSEND_OVERHEAD)
        MG_DIE("plan line %d: four messages of %zu B are more than MPI_Buffer_attach can take",
               line, visit->bytes);
    if (visit->mode->binds_buffers && visit->pool_bytes > 0)
        MG_DIE("plan line %d: %s works in the same buffers at each call and cannot use cold ones",
               line, name);
    if (visit->pattern->unit_bytes > 0 &&
        (visit->bytes == 0 || visit->bytes % visit->pattern->unit_bytes != 0))
        MG_DIE("plan line %d: %s works on multiples of %zu B, not on %zu B", line, name,
               visit->pattern->unit_bytes, visit->bytes);
    check_parts(line, visit);
    check_collective(line, visit);
    check_pair(line, visit, plan);
}

static void read_visit(int line, char *words, struct mg_plan *plan)
{
    struct mg_visit visit     = {0};
    const char     *mode_name = "standard";
    char           *rest      = NULL;

#define NUMBER(type, name, least, most, usual, about) int64_t name = (usual);
    MG_VISIT_NUMBERS(NUMBER)
#undef NUMBER
#define NUMBER(type, name, least, most, usual, about) {#name, &(name), least, most},
    const struct key keys[] = {MG_VISIT_NUMBERS(NUMBER){0}};
#undef NUMBER
    for (char *word = strtok_r(words, " ", &rest); word != NULL;
         word       = strtok_r(NULL, " ", &rest)) {
        const char       *text = split(line, word);
        const struct key *key  = find_key(keys, word);

        if (strcmp(word, "pattern") == 0)
            visit.pattern = mg_pattern_find(text);
        else if (strcmp(word, "mode") == 0)
            mode_name = text;
        else if (key != NULL)
            read_number(line, key, text);
        else if (!read_word(line, word, text, &visit))
            MG_DIE("plan line %d: a visit has no key '%s'", line, word);
    }
    if (id < 0 || cell < 0 || bytes < 0 || visit.pattern == NULL)
        MG_DIE("plan line %d: a visit needs id, cell, bytes and a pattern of --describe", line);
    visit.mode = mg_mode_find(visit.pattern, mode_name);
    if (visit.mode == NULL)
        MG_DIE("plan line %d: %s has no mode '%s'", line, visit.pattern->name, mode_name);
#define NUMBER(type, name, least, most, usual, about) visit.name = (type) (name);
    MG_VISIT_NUMBERS(NUMBER)
#undef NUMBER
    visit.members = find_group(line, plan, visit.group);
    visit.ranks   = visit.pattern->active_ranks > 0 ? visit.pattern->active_ranks
                    : visit.members != NULL         ? visit.members->count
                                                    : plan->ranks;
    check_visit(line, &visit, plan);
    plan->visits[plan->visits_count++] = visit;
    plan->has_steps                    = plan->has_steps || mg_in_step(&visit);
    if (visit.cell >= plan->cells_count)
        plan->cells_count = visit.cell + 1;
}

static void read_line(int line, char *text, struct mg_plan *plan, int here)
{
    if (strncmp(text, "launch ", 7) == 0 && plan->ranks == 0)
        read_launch(line, text + 7, plan);
    else if (strncmp(text, "visit ", 6) == 0 && plan->ranks > 0)
        read_visit(line, text + 6, plan);
    else if (strncmp(text, "group ", 6) == 0 && plan->ranks > 0)
        read_group(line, text + 6, plan, here);
    else if (text[0] != '\0' && text[0] != '#')
        MG_DIE("plan line %d: expected 'launch' first, then only 'group' and 'visit': '%.40s'",
               line, text);
}

static size_t count_lines(const char *text)
{
    size_t lines = 1;

    for (; *text != '\0'; text++)
        lines += *text == '\n';
    return lines;
}

/* Waits until rank 0 has called it. */
static void wait_for_first(void)
{
    char read = 0;

    mg_broadcast(MPI_COMM_WORLD, &read, sizeof read);
}

struct mg_plan mg_plan_read(const char *path)
{
    struct mg_plan plan = {0};
    char          *text = mg_plan_text(path);
    int            line = 1;
    int            rank = 0;

    MG_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    if (rank != 0)
        wait_for_first(); /* only rank 0, which has all lines, reports one that is wrong */
    plan.visits = malloc(count_lines(text) * sizeof *plan.visits);
    if (plan.visits == NULL)
        MG_DIE("no memory for the plan");
    for (char *at = text, *end; at != NULL; at = end, line++) {
        end = strchr(at, '\n');
        if (end != NULL)
            *end++ = '\0';
        read_line(line, at, &plan, rank);
    }
    if (plan.ranks == 0)
        MG_DIE("the plan is empty: it needs a line beginning with 'launch'");
    free(text);
    if (rank == 0)
        wait_for_first();
    return plan;
}

void mg_plan_free(struct mg_plan *plan)
{
    for (int i = 0; i < plan->groups_count; i++) {
        free(plan->groups[i]->ranks);
        free(plan->groups[i]);
    }
    free((void *) plan->groups);
    free(plan->visits);
    *plan = (struct mg_plan){0};
}
