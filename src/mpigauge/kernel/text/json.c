/* json - writes JSON. */
#include "text/json.h"

#include <inttypes.h>

void mg_json_string(FILE *out, const char *text)
{
    (void) fputc('"', out);
    for (const unsigned char *at = (const unsigned char *) text; *at != '\0'; at++) {
        if (*at == '"' || *at == '\\')
            (void) fprintf(out, "\\%c", *at);
        else if (*at < 0x20 || *at > 0x7e) /* byte by byte, so also if it is not UTF-8 */
            (void) fprintf(out, "\\u%04x", *at);
        else
            (void) fputc(*at, out);
    }
    (void) fputc('"', out);
}

void mg_json_word(FILE *out, const char *key, const char *text)
{
    (void) fprintf(out, "\"%s\":", key);
    mg_json_string(out, text);
}

void mg_json_known(FILE *out, const char *key, const char *text)
{
    if (text[0] == '\0')
        return;
    (void) fputc(',', out);
    mg_json_word(out, key, text);
}

void mg_json_array(FILE *out, const char *key, const int64_t *values, int count)
{
    (void) fprintf(out, "\"%s\":[", key);
    for (int i = 0; i < count; i++)
        (void) fprintf(out, i > 0 ? ",%" PRId64 : "%" PRId64, values[i]);
    (void) fputc(']', out);
}

const char *mg_json_bool(bool value)
{
    return value ? "true" : "false";
}
