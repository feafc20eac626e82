/* json.h - writes JSON. */
#ifndef MG_JSON_H
#define MG_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

void        mg_json_string(FILE *out, const char *text);
void        mg_json_word(FILE *out, const char *key, const char *text); /* "key":"text" */
void        mg_json_known(FILE *out, const char *key,
                          const char *text); /* ,"key":"text" unless text is empty */
void        mg_json_array(FILE *out, const char *key, const int64_t *values, int count);
const char *mg_json_bool(bool value);

#endif
