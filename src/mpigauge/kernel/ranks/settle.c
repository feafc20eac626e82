/* settle - a pause before a visit, in which its first line leaves the host. */
#include "ranks/settle.h"

#include <unistd.h>

enum { SETTLE_US = 500 };

void mg_settle(void)
{
    (void) usleep(SETTLE_US);
}
