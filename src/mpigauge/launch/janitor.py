"""Starts the program that removes what a job or a lab left behind, for as long as they run."""

import contextlib
import signal
import subprocess
import sys
from collections.abc import Iterator

from mpigauge.launch import leftovers


@contextlib.contextmanager
def janitor(folder: str = "") -> Iterator[None]:
    """Has one wait while something runs that is dead in the end; goes on without where none can be.

    Args:
        folder: A temporary folder to remove, too.
    """
    process = None
    with contextlib.suppress(OSError):
        process = subprocess.Popen(
            [sys.executable, "-IS", leftovers.__file__, folder, *sorted(leftovers.files())],
            stdin=subprocess.PIPE,
            start_new_session=True,  # so that what ends us does not end it
            preexec_fn=_ignore_signals,  # noqa: PLW1509 - we have no threads
        )
    try:
        yield
    finally:
        if process is not None:
            with contextlib.suppress(BrokenPipeError):
                process.communicate(b"dead")


def _ignore_signals() -> None:
    """What is ignored stays so in the program that is started, from its first instruction on."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
