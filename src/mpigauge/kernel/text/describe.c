/* describe - what this kernel can do, as JSON: every pattern and mode, all that Python asks of
 * them. */
#include "text/describe.h"

#include "memory/reduction.h"
#include "patterns/calls.h"
#include "patterns/registry.h"
#include "rounds/sampling.h"
#include "text/json.h"
#include "text/plan.h"

static const char *const bus_names[] = {
    [MG_BUS_NONE]   = "",
    [MG_BUS_SAME]   = "same",
    [MG_BUS_OTHERS] = "others",
    [MG_BUS_TWICE]  = "twice",
};

static void describe_mode(FILE *out, const struct mg_mode *mode)
{
    (void) fprintf(out, "{\"name\":");
    mg_json_string(out, mode->name);
    (void) fprintf(out, ",\"about\":");
    mg_json_string(out, mode->about);
    (void) fprintf(out, ",\"directions\":%d,\"needs_eager\":%s,\"binds_buffers\":%s,",
                   mode->directions, mg_json_bool(mode->needs_eager),
                   mg_json_bool(mode->binds_buffers));
    (void) fprintf(out, "\"attaches_buffer\":%s,\"overlaps\":%s}",
                   mg_json_bool(mode->attaches_buffer), mg_json_bool(mode->overlaps));
}

static void describe_pattern(FILE *out, const struct mg_pattern *pattern)
{
    (void) fprintf(out, "{\"name\":");
    mg_json_string(out, pattern->name);
    (void) fprintf(out, ",\"about\":");
    mg_json_string(out, pattern->about);
    (void) fprintf(out, ",\"time_of\":");
    mg_json_string(out, pattern->time_of);
    (void) fprintf(out, ",\"sampling\":\"%s\",\"min_ranks\":%d,\"active_ranks\":%d,",
                   pattern->sampling->name, pattern->min_ranks, pattern->active_ranks);
    (void) fprintf(out, "\"windowed\":%s,\"moves_bytes\":%s,\"spans_bytes\":%s,",
                   mg_json_bool(pattern->windowed), mg_json_bool(pattern->moves_bytes),
                   mg_json_bool(pattern->spans_bytes));
    (void) fprintf(out, "\"unit_bytes\":%zu,\"send_each\":%s,\"recv_each\":%s,\"reduces\":%s,",
                   pattern->unit_bytes, mg_json_bool(pattern->send_each),
                   mg_json_bool(pattern->recv_each), mg_json_bool(pattern->reduces));
    (void) fprintf(out, "\"rooted\":%s,\"may_in_place\":%s,\"bus\":\"%s\",\"modes\":[",
                   mg_json_bool(pattern->rooted), mg_json_bool(pattern->may_in_place),
                   bus_names[pattern->bus]);
    for (const struct mg_mode *mode = pattern->modes; mode->name != NULL; mode++) {
        if (mode != pattern->modes)
            (void) fputc(',', out);
        describe_mode(out, mode);
    }
    (void) fprintf(out, "]}");
}

static void describe_datatype(FILE *out, size_t i)
{
    const struct mg_datatype *datatype = mg_datatype_at(i);
    int                       fitting  = 0;

    (void) fprintf(out, "%s{\"name\":\"%s\",\"bytes\":%zu,\"operations\":[", i > 0 ? "," : "",
                   datatype->name, datatype->bytes);
    for (size_t k = 0; mg_operation_at(k) != NULL; k++)
        if (mg_operation_fits(mg_operation_at(k), datatype))
            (void) fprintf(out, "%s\"%s\"", fitting++ > 0 ? "," : "", mg_operation_at(k)->name);
    (void) fprintf(out, "]}");
}

void mg_describe(FILE *out)
{
    (void) fprintf(out, "{\"kernel\":%d,\"large_counts\":%s,\"datatypes\":[", MG_PLAN_VERSION,
                   mg_json_bool(MG_LARGE_COUNTS));
    for (size_t i = 0; mg_datatype_at(i) != NULL; i++)
        describe_datatype(out, i);
    (void) fprintf(out, "],\"patterns\":[");
    for (size_t i = 0; mg_pattern_at(i) != NULL; i++) {
        if (i > 0)
            (void) fputc(',', out);
        describe_pattern(out, mg_pattern_at(i));
    }
    (void) fprintf(out, "]}\n");
}
