"""Locks on open files, and file systems that have none."""

import errno
import fcntl

_TAKEN = (errno.EAGAIN, errno.EACCES)
_NONE_THERE = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)
"""Lustre mounted without flock, NFS without its lock daemon."""


def locked(descriptor: int) -> bool:
    """Takes the lock of an open file, for this process and as long as it is open.

    Returns:
        Whether there is one: some file systems know no locks, and then nobody is kept away.

    Raises:
        BlockingIOError: Another process has it.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _TAKEN:
            raise BlockingIOError(error.errno, error.strerror) from None
        if error.errno in _NONE_THERE:
            return False
        raise
    return True
