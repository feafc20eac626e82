/* stamps.h - when packets arrived, on the clock that the relay waits by. */
#ifndef LAB_STAMPS_H
#define LAB_STAMPS_H

#include <stdint.h>
#include <sys/socket.h>

int64_t lab_now_ns(void);

/* When a packet left its host by the kernel's timestamp, not when we were scheduled to read it.
 * Now, if it has no timestamp of the last second. */
int64_t lab_stamped_ns(struct msghdr *message);

#endif
