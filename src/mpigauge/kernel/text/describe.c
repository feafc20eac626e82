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

/* ---- Values of traits, by their type --------------------------------------------------------- */

static void put_flag(FILE *out, const char *key, bool value)
{
    (void) fprintf(out, ",\"%s\":%s", key, mg_json_bool(value));
}

static void put_word(FILE *out, const char *key, const char *text)
{
    (void) fputc(',', out);
    mg_json_word(out, key, text != NULL ? text : "");
}

static void put_number(FILE *out, const char *key, int64_t value)
{
    (void) fprintf(out, ",\"%s\":%" PRId64, key, value);
}

static void put_size(FILE *out, const char *key, size_t value)
{
    (void) fprintf(out, ",\"%s\":%zu", key, value);
}

static void put_int(FILE *out, const char *key, int value)
{
    put_number(out, key, value);
}

static void put_volume(FILE *out, const char *separator, const char *key, struct mg_volume volume)
{
    (void) fprintf(out, "%s\"%s\":[", separator, key);
    for (int i = 0; i < MG_VOLUME_TERMS; i++)
        (void) fprintf(out, "%s%g", i > 0 ? "," : "", volume.terms[i]);
    (void) fputc(']', out);
}

static void put_next_volume(FILE *out, const char *key, struct mg_volume volume)
{
    put_volume(out, ",", key, volume);
}

static void put_sampling(FILE *out, const char *key, const struct mg_sampling *sampling)
{
    put_word(out, key, sampling->name);
    (void) fprintf(out, ",\"sampled\":{\"single\":%s",
                   mg_json_bool(sampling->batching == MG_BATCH_ONE));
    put_flag(out, "in_blocks", sampling->batching == MG_BATCH_BLOCKS);
    put_flag(out, "cpu_known", sampling->cpu_known);
    put_flag(out, "starts_together", sampling->starts_together);
    put_flag(out, "probes", sampling->probes);
    put_flag(out, "floor", sampling->floor);
    (void) fputc('}', out);
}

/* Reported operations in a call: a number, or a word for it. */
struct trips {
    const char *word; /* or NULL */
    int         number;
};

static struct trips trips_of(const struct mg_pattern *pattern)
{
    static const char *const words[] = {
        [0]                = "window",
        [-MG_TRIPS_RANKS]  = "ranks",
        [-MG_TRIPS_REPEAT] = "repeats",
        [-MG_TRIPS_PAIRS]  = "pairs",
        [-MG_TRIPS_OTHERS] = "others",
    };

    return (struct trips){.word   = pattern->trips <= 0 ? words[-pattern->trips] : NULL,
                          .number = pattern->trips};
}

static void put_trips(FILE *out, const char *key, struct trips trips)
{
    if (trips.word != NULL)
        put_word(out, key, trips.word);
    else
        put_int(out, key, trips.number);
}

#define PUT(key, value)                    \
    _Generic((value),                      \
        bool: put_flag,                    \
        int: put_int,                      \
        int64_t: put_number,               \
        size_t: put_size,                  \
        const char *: put_word,            \
        struct mg_volume: put_next_volume, \
        struct trips: put_trips,           \
        const struct mg_sampling *: put_sampling)(out, key, value)

#define NOTHING(type, name, about)

/* ---- Modes and patterns ---------------------------------------------------------------------- */

static void describe_mode(FILE *out, const struct mg_pattern *pattern, const struct mg_mode *mode)
{
    (void) fputc('{', out);
    mg_json_word(out, "name", mode->name);
#define TRAIT(type, name, about)       PUT(#name, mode->name);
#define TOLD(type, name, value, about) PUT(#name, value);
#define SAID(name, value, about)       PUT(#name, value);
    MG_MODE_TRAITS(TRAIT, TOLD, SAID, NOTHING)
#undef TRAIT
    (void) fputc('}', out);
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
#define TRAIT(type, name, about) PUT(#name, pattern->name);
    MG_PATTERN_TRAITS(TRAIT, TOLD, SAID, NOTHING)
#undef TRAIT
#undef TOLD
#undef SAID
    describe_volumes(out, pattern);
    describe_modes(out, pattern);
    (void) fputc('}', out);
}

/* What the parts of the description of a mode and of a pattern are. */
static void describe_traits(FILE *out)
{
#define TRAIT(type, name, about)       put_word(out, #name, about);
#define TOLD(type, name, value, about) put_word(out, #name, about);
#define SAID(name, value, about)       put_word(out, #name, about);
    (void) fprintf(out, "{\"modes\":{\"name\":\"Its name.\"");
    MG_MODE_TRAITS(TRAIT, TOLD, SAID, NOTHING)
    (void) fprintf(out, "},\"patterns\":{\"name\":\"Its name.\"");
    MG_PATTERN_TRAITS(TRAIT, TOLD, SAID, NOTHING)
    (void) fprintf(out, "}}");
#undef TRAIT
#undef TOLD
#undef SAID
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
    (void) fprintf(out, "],\"traits\":");
    describe_traits(out);
    (void) fprintf(out, ",\"patterns\":[");
    for (size_t i = 0; mg_pattern_at(i) != NULL; i++) {
        if (i > 0)
            (void) fputc(',', out);
        describe_pattern(out, mg_pattern_at(i));
    }
    (void) fprintf(out, "],\"lacking\":[");
    describe_lacking(out);
    (void) fprintf(out, "]}\n");
}
