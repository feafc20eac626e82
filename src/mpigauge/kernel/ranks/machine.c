/* machine - what machine a rank is on: whoever started the job may be on another. */
#include "ranks/machine.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

enum { LINE_BYTES = 512, CACHES_MOST = 16, PATH_BYTES = 96, NUMBER_BYTES = 32 };

static const char *const model_keys[] = {"model name", "Hardware", "cpu model"};

/* What stands behind "key : " if the line begins so, else NULL. */
static const char *value_of(const char *line, const char *key)
{
    const char *colon = strchr(line, ':');

    if (colon == NULL || strncmp(line, key, strlen(key)) != 0)
        return NULL;
    return colon + 1 + strspn(colon + 1, " \t");
}

static void read_model(char *model, size_t bytes)
{
    FILE       *file  = fopen("/proc/cpuinfo", "r");
    const char *value = NULL;
    char        line[LINE_BYTES];

    if (file == NULL)
        return;
    while (value == NULL && fgets(line, sizeof line, file) != NULL) {
        for (size_t i = 0; value == NULL && i < sizeof model_keys / sizeof *model_keys; i++)
            value = value_of(line, model_keys[i]);
    }
    if (value != NULL)
        (void) snprintf(model, bytes, "%.*s", (int) strcspn(value, "\n"), value);
    (void) fclose(file);
}

/* As the system claims it, such as 32768K; 0 if there is no such cache. */
static int64_t cache_at(int index)
{
    char  path[PATH_BYTES];
    char  text[NUMBER_BYTES] = "";
    char *end                = NULL;

    (void) snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return 0;
    const bool read = fgets(text, sizeof text, file) != NULL;
    (void) fclose(file);
    const int64_t kib = read ? strtoll(text, &end, 10) : 0;
    return kib > 0 && *end == 'K' ? kib * 1024 : 0;
}

struct mg_machine mg_machine_here(void)
{
    struct mg_machine machine;
    struct utsname    names;

    memset(&machine, 0, sizeof machine); /* it is sent as it is */
    read_model(machine.cpu, sizeof machine.cpu);
    if (uname(&names) == 0)
        (void) snprintf(machine.system, sizeof machine.system, "%.*s",
                        (int) sizeof machine.system - 1, names.release);
    for (int i = 0; i < CACHES_MOST; i++)
        if (cache_at(i) > machine.cache_bytes)
            machine.cache_bytes = cache_at(i);
    return machine;
}
