"""Locks on open files, and file systems that have none."""

import errno
import fcntl

_TAKEN = (errno.EAGAIN, errno.EACCES)
_NONE_THERE = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)
"""Errors of file systems without locks: Lustre mounted without flock, NFS without its lock daemon."""


def try_lock(descriptor: int) -> bool:
    """Lock an open file for this process, for as long as it is open.

    Returns:
        Whether the file is locked: some file systems know no locks.

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
