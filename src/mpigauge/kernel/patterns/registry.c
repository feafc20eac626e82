/* registry - the patterns of patterns.def. */
#include "patterns/registry.h"

#include <string.h>

#define MG_PATTERN(name) extern const struct mg_pattern mg_##name;
#include "patterns/patterns.def"
#undef MG_PATTERN

static const struct mg_pattern *const patterns[] = {
#define MG_PATTERN(name) &mg_##name,
#include "patterns/patterns.def"
#undef MG_PATTERN
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

const struct mg_pattern *mg_pattern_at(size_t i)
{
    return i < sizeof patterns / sizeof *patterns ? patterns[i] : NULL;
}
