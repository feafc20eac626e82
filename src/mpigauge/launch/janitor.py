"""Starts the program that removes what a job or a lab left behind, for as long as they run."""

import contextlib
import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence

from mpigauge.launch import leftovers


@contextlib.contextmanager
def janitor(folder: str = "", elsewhere: Sequence[Sequence[str]] = ()) -> Iterator[bytearray]:
    """Has one wait while something runs that is dead in the end; goes on without where none can be.

    Args:
        folder: A temporary folder to remove, too.
        elsewhere: For each other host the words that start a shell there.

    Yields:
        What it is told in the end: leftovers.ENDED, unless that is replaced by leftovers.KILLED.
    """
    said = bytearray(leftovers.ENDED)
    process = None
    with contextlib.suppress(OSError):
        process = subprocess.Popen(
            [
                sys.executable,
                "-IS",
                leftovers.__file__,
                folder,
                json.dumps([[*words] for words in elsewhere]) if elsewhere else "",
                *sorted(leftovers.files()),
            ],
            stdin=subprocess.PIPE,
            # It may outlive us: whoever reads what we print would wait for it, too.
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # so that what ends us does not end it
            preexec_fn=_ignore_signals,  # noqa: PLW1509 - see there
        )
    try:
        yield said
    finally:
        if process is not None:
            with contextlib.suppress(BrokenPipeError):
                process.communicate(bytes(said))


def _ignore_signals() -> None:
    """What is ignored stays so in the program that is started, from its first instruction on.

    Between fork and exec, where threads of ours may be gone in the middle of something (numpy's libraries
    have some, and so has a notebook): signal.signal needs no lock that one of them could have held.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
