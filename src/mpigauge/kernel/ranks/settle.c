/* settle - a pause before a visit, for those who carry its first line away. */
#include "ranks/settle.h"

#include <unistd.h>

enum { SETTLE_US = 500 };

void mg_settle(void)
{
    (void) usleep(SETTLE_US);
}
