"""Standard streams that may close while a measurement goes on: output stops, the measurement does not."""

from __future__ import annotations

import errno
import logging
import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mpigauge.campaign.job_run import Observer


READER_GONE_ERRNOS = (errno.EPIPE, errno.EIO)
"""Errors of a pipe without a reader and of a closed terminal; a full disk is a real error."""


def open_closed_streams() -> None:
    """Open standard streams that were closed (`>&-`) on the null device.

    The next files to be opened, such as the result, would get their file descriptors otherwise.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        try:
            os.fstat(number)
        except OSError:
            # The null device gets the lowest free descriptor, which is that of the closed stream.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - for good


@contextmanager
def tolerate_closed(stream: TextIO) -> Iterator[None]:
    """Redirect a stream to the null device once writing to it fails."""
    try:
        yield
    except OSError:
        discard_output(stream)


def discard_output(stream: TextIO) -> None:
    """Redirect a stream to the null device, with what it has buffered, which Python would write at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def note(text: str, *, err: bool = True) -> None:
    """Print lines that may contain names of files and the like, without control characters.

    Args:
        err: Whether to print to standard error instead of standard output.
    """
    # By its name, the stream is that of a display which goes on below what is printed.
    click.echo(clean(text), file=sys.stderr if err else None)


class _Notes(logging.Handler):
    """Handler that prints what is logged as notes."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print a record."""
        note(f"mpigauge: {record.getMessage()}")


@contextmanager
def logged_as_notes() -> Iterator[None]:
    """Print what modules log that have nobody to tell it to."""
    log, notes = logging.getLogger("mpigauge"), _Notes()
    log.addHandler(notes)
    try:
        yield
    finally:
        log.removeHandler(notes)


def clean(text: str) -> str:
    """Return lines without control characters, which quoted names may contain."""
    from mpigauge.document.plain_signs import printable_lines

    return printable_lines(text)


def print_unless_closed(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print the end of a measurement; ignore that the reader has left.

    Notes are cleaned as by `note`; documents are clean and may have colours.
    """
    stream = sys.stderr if err else sys.stdout
    try:
        click.echo(clean(text) if err else text, err=err, nl=nl)
        stream.flush()
    except OSError as error:
        if error.errno not in READER_GONE_ERRNOS:
            raise
        discard_output(stream)


class ClosedStreamObserver:
    """Observer whose stream may be closed."""

    def __init__(self, observer: Observer, stream: TextIO) -> None:
        self._observer = observer
        self._stream = stream

    def __getattr__(self, name: str) -> Callable[..., None]:
        method = getattr(self._observer, name)

        def call(*values: object) -> None:
            with tolerate_closed(self._stream):
                method(*values)

        return call
