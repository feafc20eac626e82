/* watchdog.h - an alarm that ends this rank unless it is restarted or cancelled in time. */
#ifndef MG_WATCHDOG_H
#define MG_WATCHDOG_H

#include <stdint.h>

/* Ends this rank with a sentence on standard error unless restarted or cancelled within limit_ns.
 * For launches that nobody watches from outside: a hang would hold the nodes until the time of the
 * job is over. */
void mg_watchdog_start(int64_t limit_ns, const char *sentence);
void mg_watchdog_restart(void); /* with the same limit; nothing if none is running */
void mg_watchdog_cancel(void);

/* Starts it with the limit of some minutes within which the plan must have come. */
void mg_watchdog_await_plan(void);

#endif
