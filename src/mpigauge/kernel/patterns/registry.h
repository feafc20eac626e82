/* registry.h - finds patterns and modes. */
#ifndef MG_REGISTRY_H
#define MG_REGISTRY_H

#include "patterns/pattern.h"

#include <stddef.h>

/* NULL if there is none of this name, or none with this index. */
const struct mg_pattern *mg_pattern_find(const char *name);
const struct mg_mode    *mg_mode_find(const struct mg_pattern *pattern, const char *name);
const struct mg_pattern *mg_pattern_at(size_t i);

#endif
