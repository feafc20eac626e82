/* describe - what this kernel can do, as JSON: all patterns and modes with their properties. */
#include "text/describe.h"

#include "memory/reduction.h"
#include "patterns/calls.h"
#include "patterns/registry.h"
#include "patterns/volumes.h"
#include "rounds/sampling.h"
#include "text/json.h"
#include "text/plan.h"

#include <inttypes.h>
#include <mpi.h>

static const char *const bus_names[] = {
    [MG_BUS_NONE]   = "",
    [MG_BUS_SAME]   = "same",
    [MG_BUS_OTHERS] = "others",
    [MG_BUS_TWICE]  = "twice",
};

static const char *const family_names[] = {
    [MG_FAMILY_NONE] = "",        [MG_MESSAGE] = "message", [MG_COLLECTIVE] = "collective",
    [MG_ONE_SIDED] = "one-sided", [MG_MEMORY] = "memory",   [MG_PROBE] = "probe",
    [MG_FLOOR] = "floor",         [MG_STARTUP] = "startup",
};

static const char *const side_names[] = {
    [MG_OF_NOBODY] = "", [MG_OF_SEND] = "send", [MG_OF_RECEIVE] = "receive"};

static const char *const senders_names[] = {
    [MG_SENDERS_FIXED]    = "",
    [MG_SENDERS_OF_PAIRS] = "pairs",
    [MG_SENDERS_AND_ONE]  = "others",
};

static void put_flag(FILE *out, const char *key, bool value)
{
    (void) fprintf(out, ",\"%s\":%s", key, mg_json_bool(value));
}

static void put_word(FILE *out, const char *key, const char *text)
{
    (void) fputc(',', out);
    mg_json_word(out, key, text);
}

static void put_volume(FILE *out, const char *separator, const char *key, struct mg_volume volume)
{
    (void) fprintf(out, "%s\"%s\":[", separator, key);
    for (int i = 0; i < MG_VOLUME_TERMS; i++)
        (void) fprintf(out, "%s%g", i > 0 ? "," : "", volume.terms[i]);
    (void) fputc(']', out);
}

static void describe_mode(FILE *out, const struct mg_pattern *pattern, const struct mg_mode *mode)
{
    (void) fputc('{', out);
    mg_json_word(out, "name", mode->name);
    put_word(out, "about", mode->about);
    put_word(out, "time_of", mode->time_of != NULL ? mode->time_of : "");
    put_word(out, "sampling", mode->sampling != NULL ? mode->sampling->name : "");
    (void) fprintf(out, ",\"needs_mpi\":%d,\"directions\":%d", mode->needs_mpi, mode->directions);
    put_flag(out, "needs_eager", mode->needs_eager);
    put_flag(out, "never_eager", mode->never_eager);
    put_flag(out, "needs_unified", mode->needs_unified);
    put_flag(out, "binds_buffers", mode->binds_buffers);
    put_flag(out, "attaches_buffer", mode->attaches_buffer);
    put_flag(out, "overlaps", mode->overlaps);
    put_flag(out, "in_a_row", mode->in_a_row);
    put_flag(out, "strided", mode->strided);
    put_flag(out, "partitioned", mode->partitioned);
    put_flag(out, "by_hand", mode->by_hand);
    put_flag(out, "message_each", mode->message_each);
    put_flag(out, "alone", mode->alone);
    put_flag(out, "one_message", mode->one_message);
    put_flag(out, "counts_all", mg_counts_all(pattern, mode));
    put_flag(out, "room_everywhere", mode->room_everywhere);
    put_word(out, "baseline", mode->baseline != NULL ? mode->baseline : "");
    put_word(out, "instead_of", mode->instead_of != NULL ? mode->instead_of : "");
    put_flag(out, "target_waits", mode->target_waits);
    put_flag(out, "target_computes", mode->target_computes);
    put_flag(out, "computes_first", mode->computes_first);
    put_flag(out, "may_test", mode->may_test);
    put_word(out, "computing", side_names[mode->computing]);
    put_flag(out, "no_rate", mode->no_rate);
    put_flag(out, "compares", mg_mode_compares(pattern, mode));
    (void) fprintf(out,
                   ",\"most_bytes\":%zu,\"trips\":%d,\"parts\":%d,\"depth_most\":%d,"
                   "\"unit_bytes\":%zu,\"work_times\":%d,\"tests_usual\":%d",
                   mode->most_bytes, mode->trips, mode->parts, mode->depth_most, mode->unit_bytes,
                   mode->work_times > 0 ? mode->work_times : 1, mode->tests_usual);
    put_volume(out, ",", "scratch", mode->scratch);
    (void) fputc('}', out);
}

static void describe_sampling(FILE *out, const struct mg_sampling *sampling)
{
    put_word(out, "sampling", sampling->name);
    (void) fprintf(out, ",\"sampled\":{\"single\":%s",
                   mg_json_bool(sampling->batching == MG_BATCH_ONE));
    put_flag(out, "in_blocks", sampling->batching == MG_BATCH_BLOCKS);
    put_flag(out, "cpu_known", sampling->cpu_known);
    put_flag(out, "starts_together", sampling->starts_together);
    put_flag(out, "probes", sampling->probes);
    put_flag(out, "floor", sampling->floor);
    (void) fputc('}', out);
}

/* How many reported operations are in one call: a number, or a word for it. */
static void describe_trips(FILE *out, const struct mg_pattern *pattern)
{
    if (pattern->trips == 0)
        put_word(out, "trips", "window");
    else if (pattern->trips == MG_TRIPS_RANKS)
        put_word(out, "trips", "ranks");
    else if (pattern->trips == MG_TRIPS_REPEAT)
        put_word(out, "trips", "repeats");
    else if (pattern->trips == MG_TRIPS_PAIRS)
        put_word(out, "trips", "pairs");
    else if (pattern->trips == MG_TRIPS_OTHERS)
        put_word(out, "trips", "others");
    else
        (void) fprintf(out, ",\"trips\":%d", pattern->trips);
}

static void describe_volumes(FILE *out, const struct mg_pattern *pattern)
{
    (void) fprintf(out, ",\"volumes\":{");
    put_volume(out, "", "operation", mg_volume_operation(pattern));
    put_volume(out, ",", "bus", mg_volume_bus(pattern));
    put_volume(out, ",", "wire", pattern->wire);
    put_volume(out, ",", "sent", mg_volume_of_call(pattern, mg_volume_sent(pattern)));
    put_volume(out, ",", "received", mg_volume_of_call(pattern, mg_volume_received(pattern)));
    (void) fputc('}', out);
}

static void describe_modes(FILE *out, const struct mg_pattern *pattern)
{
    (void) fprintf(out, ",\"modes\":[");
    for (const struct mg_mode *mode = pattern->modes; mode->name != NULL; mode++) {
        if (mode != pattern->modes)
            (void) fputc(',', out);
        describe_mode(out, pattern, mode);
    }
    (void) fputc(']', out);
}

static void describe_pattern(FILE *out, const struct mg_pattern *pattern)
{
    (void) fputc('{', out);
    mg_json_word(out, "name", pattern->name);
    put_word(out, "about", pattern->about);
    put_word(out, "time_of", pattern->time_of);
    put_word(out, "family", family_names[pattern->family]);
    describe_sampling(out, pattern->sampling);
    (void) fprintf(out, ",\"min_ranks\":%d,\"active_ranks\":%d", pattern->min_ranks,
                   pattern->active_ranks);
    describe_trips(out, pattern);
    (void) fprintf(out, ",\"unit_bytes\":%zu,\"least_ns\":%" PRId64, pattern->unit_bytes,
                   pattern->least_ns);
    put_flag(out, "windowed", pattern->windowed);
    put_flag(out, "moves_bytes", pattern->moves_bytes);
    put_flag(out, "spans_bytes", pattern->spans_bytes);
    put_flag(out, "send_each", pattern->send_each);
    put_flag(out, "recv_each", pattern->recv_each);
    put_flag(out, "reduces", pattern->reduces);
    put_flag(out, "rooted", pattern->rooted);
    put_flag(out, "may_in_place", pattern->may_in_place);
    put_flag(out, "queues", pattern->queues);
    put_flag(out, "counts_int", pattern->counts_int);
    put_flag(out, "one_sided", pattern->one_sided);
    put_flag(out, "exposes_send", pattern->exposes_send);
    put_flag(out, "rank_times", pattern->rank_times);
    put_word(out, "one_pair", pattern->one_pair != NULL ? pattern->one_pair : "");
    put_flag(out, "one_way", pattern->one_way);
    put_word(out, "senders", senders_names[pattern->senders]);
    put_word(out, "overhead", side_names[pattern->overhead]);
    put_word(out, "bus", bus_names[pattern->bus]);
    describe_volumes(out, pattern);
    describe_modes(out, pattern);
    (void) fputc('}', out);
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

static void put_number(FILE *out, const char *key, int64_t value)
{
    (void) fprintf(out, ",\"%s\":%" PRId64, key, value);
}

static void describe_number(FILE *out, const char *name, int64_t least, int64_t most, int64_t usual,
                            const char *about)
{
    (void) fputc('{', out);
    mg_json_word(out, "name", name);
    put_number(out, "least", least);
    put_number(out, "most", most);
    put_number(out, "usual", usual);
    put_word(out, "about", about);
    (void) fprintf(out, "},");
}

static void describe_word(FILE *out, const struct mg_plan_word *word)
{
    (void) fputc('{', out);
    mg_json_word(out, "name", word->name);
    put_word(out, "usual", word->usual);
    put_word(out, "about", word->about);
    (void) fputc('}', out);
}

/* The keys of a visit in the plan, except pattern and mode. */
static void describe_keys(FILE *out)
{
#define NUMBER(type, name, least, most, usual, about) \
    describe_number(out, #name, least, most, usual, about);
    MG_VISIT_NUMBERS(NUMBER)
#undef NUMBER
    for (size_t i = 0; mg_plan_word_at(i) != NULL; i++) {
        if (i > 0)
            (void) fputc(',', out);
        describe_word(out, mg_plan_word_at(i));
    }
}

/* The library that is linked, which may not be the one of mpi.h.  May be asked before MPI_Init. */
static void describe_library(FILE *out)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int  length                                  = 0;

    if (MPI_Get_library_version(library, &length) != MPI_SUCCESS)
        library[0] = '\0';
    mg_json_word(out, "library", library);
}

/* Modes that need what the library lacks that this kernel was built with. */
static void describe_lacking(FILE *out)
{
    const char *separator = "";

    for (size_t i = 0; mg_pattern_at(i) != NULL; i++)
        for (const struct mg_mode *mode = mg_pattern_at(i)->modes; mode->name != NULL; mode++) {
            if (mode->lacks == NULL)
                continue;
            (void) fprintf(out, "%s{", separator);
            mg_json_word(out, "pattern", mg_pattern_at(i)->name);
            put_word(out, "mode", mode->name);
            put_word(out, "calls", mode->lacks);
            (void) fputc('}', out);
            separator = ",";
        }
}

void mg_describe(FILE *out)
{
    (void) fprintf(out, "{\"kernel\":%d,\"large_counts\":%s,", MG_PLAN_VERSION,
                   mg_json_bool(MG_LARGE_COUNTS));
    describe_library(out);
    (void) fprintf(out, ",\"datatypes\":[");
    for (size_t i = 0; mg_datatype_at(i) != NULL; i++)
        describe_datatype(out, i);
    (void) fprintf(out, "],\"visit_keys\":[");
    describe_keys(out);
    (void) fprintf(out, "],\"patterns\":[");
    for (size_t i = 0; mg_pattern_at(i) != NULL; i++) {
        if (i > 0)
            (void) fputc(',', out);
        describe_pattern(out, mg_pattern_at(i));
    }
    (void) fprintf(out, "],\"lacking\":[");
    describe_lacking(out);
    (void) fprintf(out, "]}\n");
}
