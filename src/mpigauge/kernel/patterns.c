/* patterns - finds patterns and modes by name, and lists them all. */
#include "calls.h"
#include "kernel.h"

#include <string.h>

#define MG_PATTERN(name) extern const struct mg_pattern mg_##name;
#include "patterns.def"
#undef MG_PATTERN

static const struct mg_pattern *const patterns[] = {
#define MG_PATTERN(name) &mg_##name,
#include "patterns.def"
#undef MG_PATTERN
};

static const char *const sampling_names[] = {
    [MG_CHAINED] = "chained", [MG_BLOCKS] = "blocks", [MG_FLOOR] = "floor",
    [MG_PROBE] = "probe",     [MG_COMMON] = "common", [MG_PREPARED] = "prepared",
    [MG_ACKED] = "acked",
};

static const char *const bus_names[] = {
    [MG_BUS_NONE]   = "",
    [MG_BUS_SAME]   = "same",
    [MG_BUS_OTHERS] = "others",
    [MG_BUS_TWICE]  = "twice",
};

const struct mg_pattern *mg_pattern_find(const char *name)
{
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (strcmp(patterns[i]->name, name) == 0)
            return patterns[i];
    return NULL;
}

const struct mg_mode *mg_mode_find(const struct mg_pattern *pattern, const char *name)
{
    for (const struct mg_mode *mode = pattern->modes; mode->name != NULL; mode++)
        if (strcmp(mode->name, name) == 0)
            return mode;
    return NULL;
}

static const char *json_bool(bool value)
{
    return value ? "true" : "false";
}

static void describe_mode(FILE *out, const struct mg_mode *mode)
{
    (void) fprintf(out, "{\"name\":");
    mg_journal_string(out, mode->name);
    (void) fprintf(out, ",\"about\":");
    mg_journal_string(out, mode->about);
    (void) fprintf(out, ",\"directions\":%d,\"needs_eager\":%s,\"binds_buffers\":%s,",
                   mode->directions, json_bool(mode->needs_eager), json_bool(mode->binds_buffers));
    (void) fprintf(out, "\"attaches_buffer\":%s,\"overlaps\":%s}", json_bool(mode->attaches_buffer),
                   json_bool(mode->overlaps));
}

static void describe_pattern(FILE *out, const struct mg_pattern *pattern)
{
    (void) fprintf(out, "{\"name\":");
    mg_journal_string(out, pattern->name);
    (void) fprintf(out, ",\"about\":");
    mg_journal_string(out, pattern->about);
    (void) fprintf(out, ",\"time_of\":");
    mg_journal_string(out, pattern->time_of);
    (void) fprintf(out, ",\"sampling\":\"%s\",\"min_ranks\":%d,\"active_ranks\":%d,",
                   sampling_names[pattern->sampling], pattern->min_ranks, pattern->active_ranks);
    (void) fprintf(out, "\"windowed\":%s,\"moves_bytes\":%s,\"spans_bytes\":%s,",
                   json_bool(pattern->windowed), json_bool(pattern->moves_bytes),
                   json_bool(pattern->spans_bytes));
    (void) fprintf(out, "\"unit_bytes\":%zu,\"send_each\":%s,\"recv_each\":%s,\"reduces\":%s,",
                   pattern->unit_bytes, json_bool(pattern->send_each),
                   json_bool(pattern->recv_each), json_bool(pattern->reduces));
    (void) fprintf(out, "\"rooted\":%s,\"may_in_place\":%s,\"bus\":\"%s\",\"modes\":[",
                   json_bool(pattern->rooted), json_bool(pattern->may_in_place),
                   bus_names[pattern->bus]);
    for (const struct mg_mode *mode = pattern->modes; mode->name != NULL; mode++) {
        if (mode != pattern->modes)
            (void) fputc(',', out);
        describe_mode(out, mode);
    }
    (void) fprintf(out, "]}");
}

void mg_describe(FILE *out)
{
    (void) fprintf(out, "{\"kernel\":%d,\"large_counts\":%s,\"datatypes\":[", MG_PLAN_VERSION,
                   json_bool(MG_LARGE_COUNTS));
    mg_describe_datatypes(out);
    (void) fprintf(out, "],\"patterns\":[");
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        if (i > 0)
            (void) fputc(',', out);
        describe_pattern(out, patterns[i]);
    }
    (void) fprintf(out, "]}\n");
}
