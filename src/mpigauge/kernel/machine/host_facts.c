/* host_facts - facts of the host that a rank runs on; mpigauge itself may run on another. */
#include "machine/host_facts.h"

#include "text/small_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

enum { LINE_BYTES = 512, CACHES_MAX = 16, NUMBER_BYTES = 32, KIB = 1024 };

/* Names as on x86, 32-bit Arm, MIPS and POWER; 64-bit Arm has numbers of its maker and part only.
 */
static const char *const model_keys[]     = {"model name", "Hardware", "cpu model", "cpu", NULL};
static const char *const maker_keys[]     = {"CPU implementer", NULL};
static const char *const part_keys[]      = {"CPU part", NULL};
static const char *const mainframe_keys[] = {"processor 0", NULL};
static const char *const microcode_keys[] = {"microcode", NULL};
static const char *const memory_keys[]    = {"MemTotal", NULL};
static const char *const tracer_keys[]    = {"TracerPid", NULL};

/* ---- Files ----------------------------------------------------------------------------------- */

/* The value of a line "key : value" with one of these keys, else NULL. */
static const char *value_of(const char *line, const char *const *keys)
{
    const char *colon = strchr(line, ':');

    for (; colon != NULL && *keys != NULL; keys++) {
        const size_t length = strlen(*keys);

        if (strncmp(line, *keys, length) == 0 &&
            line + length + strspn(line + length, " \t") == colon)
            return colon + 1 + strspn(colon + 1, " \t");
    }
    return NULL;
}

/* The first value of any of these keys in a file; text stays as it is if there is none. */
static void read_value(const char *name, const char *const *keys, char *text, size_t bytes)
{
    FILE       *file  = fopen(name, "r");
    const char *value = NULL;
    char        line[LINE_BYTES];

    if (file == NULL)
        return;
    while (value == NULL && fgets(line, sizeof line, file) != NULL)
        value = value_of(line, keys);
    if (value != NULL)
        (void) snprintf(text, bytes, "%.*s", (int) strcspn(value, "\n"), value);
    (void) fclose(file);
}

static void read_line(const char *path, char *text, size_t bytes)
{
    mg_small_file_line("", path, text, bytes);
}

/* ---- Facts ----------------------------------------------------------------------------------- */

/* The size of a cache, which the system gives as 32768K; 0 if there is no such cache. */
static int64_t cache_at(int index)
{
    char  name[NUMBER_BYTES + LINE_BYTES];
    char  text[NUMBER_BYTES] = "";
    char *end                = NULL;

    (void) snprintf(name, sizeof name, "sys/devices/system/cpu/cpu0/cache/index%d/size", index);
    read_line(name, text, sizeof text);
    const int64_t kib = strtoll(text, &end, 10);
    return kib > 0 && *end == 'K' ? kib * KIB : 0;
}

static int64_t largest_cache(void)
{
    int64_t largest = 0;

    for (int i = 0; i < CACHES_MAX; i++) {
        const int64_t bytes = cache_at(i);

        largest = bytes > largest ? bytes : largest;
    }
    return largest;
}

/* From a line like "MemTotal:  16332000 kB". */
static int64_t memory_bytes(void)
{
    char text[NUMBER_BYTES] = "";

    read_value("/proc/meminfo", memory_keys, text, sizeof text);
    const int64_t kib = strtoll(text, NULL, 10);
    return kib > 0 && kib < INT64_MAX / KIB ? kib * KIB : 0;
}

void mg_cpu_model(const char *cpuinfo, char *text, size_t bytes)
{
    static const char machine[]           = "machine = ";
    char              maker[NUMBER_BYTES] = "";
    char              part[NUMBER_BYTES]  = "";
    char              first[LINE_BYTES]   = "";

    read_value(cpuinfo, model_keys, text, bytes);
    if (text[0] != '\0')
        return;
    read_value(cpuinfo, maker_keys, maker, sizeof maker);
    read_value(cpuinfo, part_keys, part, sizeof part);
    read_value(cpuinfo, mainframe_keys, first, sizeof first);
    const char *type = strstr(first, machine);
    if (maker[0] != '\0' && part[0] != '\0')
        (void) snprintf(text, bytes, "implementer %s part %s", maker, part);
    else if (type != NULL)
        (void) snprintf(text, bytes, "IBM/S390 %s", type);
}

struct mg_host_facts mg_host_facts_read(void)
{
    struct mg_host_facts here;
    struct utsname       names;

    memset(&here, 0, sizeof here); /* it is sent as bytes */
    mg_cpu_model("/proc/cpuinfo", here.cpu, sizeof here.cpu);
    read_value("/proc/cpuinfo", microcode_keys, here.microcode, sizeof here.microcode);
    if (uname(&names) == 0)
        (void) snprintf(here.system, sizeof here.system, "%.*s", (int) sizeof here.system - 1,
                        names.release);
    read_line("sys/devices/system/cpu/online", here.online, sizeof here.online);
    read_line("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", here.governor,
              sizeof here.governor);
    read_line("sys/devices/system/clocksource/clocksource0/current_clocksource", here.clock_source,
              sizeof here.clock_source);
    here.cache_bytes  = largest_cache();
    here.memory_bytes = memory_bytes();
    return here;
}

/* 0 is no tracer, one outside our PID namespace, or not known. */
bool mg_is_traced(void)
{
    char text[NUMBER_BYTES] = "";

    read_value("/proc/self/status", tracer_keys, text, sizeof text);
    return strtoll(text, NULL, 10) != 0;
}
