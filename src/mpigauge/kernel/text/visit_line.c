/* visit_line - writes the journal line of a finished visit. */
#include "text/visit_line.h"

#include "text/journal.h"
#include "text/json.h"

#include <inttypes.h>
#include <math.h>

static void put_number(FILE *out, const char *key, mg_number value)
{
    (void) fprintf(out, ",\"%s\":%" PRId64, key, value);
}

static void put_truth(FILE *out, const char *key, mg_truth value)
{
    (void) fprintf(out, ",\"%s\":%s", key, value ? "true" : "false");
}

static void put_real(FILE *out, const char *key, mg_real value)
{
    (void) fprintf(out, ",\"%s\":%.3g", key, value);
}

static void put_text(FILE *out, const char *key, mg_text value)
{
    (void) fputc(',', out);
    mg_json_word(out, key, value);
}

static void put_numbers(FILE *out, const char *key, mg_numbers array)
{
    (void) fputc(',', out);
    mg_json_array(out, key, array.values, array.count);
}

static void put_reals(FILE *out, const char *key, mg_reals array)
{
    (void) fprintf(out, ",\"%s\":[", key);
    for (int i = 0; i < array.count; i++)
        (void) fprintf(out, i > 0 ? ",%.3g" : "%.3g", array.values[i]);
    (void) fputc(']', out);
}

static void put_flags(FILE *out, const char *key, mg_flags flags)
{
    (void) fprintf(out, ",\"%s\":[", key);
    for (int i = 0, put = 0; i < flags.count; i++)
        if (flags.values[i])
            (void) fprintf(out, put++ > 0 ? ",%d" : "%d", i);
    (void) fputc(']', out);
}

static void put_cards(FILE *out, const char *key, mg_cards cards)
{
    (void) fprintf(out, ",\"%s\":[", key);
    for (int i = 0; i < cards.count; i++) {
        const struct mg_card_traffic *card = &cards.values[i].card;

        (void) fprintf(out, i > 0 ? ",{\"rank\":%d," : "{\"rank\":%d,", cards.values[i].rank);
        mg_json_word(out, "card", card->name);
        (void) fprintf(out, ",\"kind\":\"%s\"", card->is_rdma ? "rdma" : "ip");
        put_number(out, "received_bytes", card->is_counted ? card->traffic.received_bytes : -1);
        put_number(out, "sent_bytes", card->is_counted ? card->traffic.sent_bytes : -1);
        (void) fputc('}', out);
    }
    (void) fputc(']', out);
}

void mg_journal_visit(const struct mg_visit *visit, const struct mg_outcome *outcome)
{
    FILE *out = mg_journal_line();

    (void) fprintf(out, "{\"visit\":%" PRId64, visit->id);
#define PUT(kind, name, when) \
    if (when)                 \
        put_##kind(out, #name, outcome->name);
    MG_VISIT_FIELDS(PUT)
#undef PUT
    (void) fputc('}', out);
    mg_journal_end_line();
}
