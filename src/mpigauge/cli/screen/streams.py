"""Output that a measurement outlives: a reader that is gone ends what is said, not what is measured."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mpigauge.campaign.job_run import Observer


NOBODY_READS = (errno.EPIPE, errno.EIO)
"""A pipe whose reader has left, a terminal that is gone; a full disk is another matter."""


def open_closed() -> None:
    """Let standard streams that are closed (`>&-`) lead nowhere.

    Their numbers would else be given to the next files that are opened, the result among them.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # it gets the lowest free number
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - for good


@contextmanager
def forgiving(stream: TextIO) -> Iterator[None]:
    """Let what is written to a stream go nowhere from when it cannot be written to any more."""
    try:
        yield
    except OSError:
        silence(stream)


def silence(stream: TextIO) -> None:
    """Let a stream end nowhere, what it still holds included: Python writes that when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def note(text: str, *, err: bool = True) -> None:
    """Print lines that may name files and other things of strangers: no code in them speaks to the terminal.

    Args:
        err: Whether they stand beside what was asked for, on standard error.
    """
    click.echo(clean(text), err=err)


def clean(text: str) -> str:
    """Return lines without control characters, whoever wrote what is named in them."""
    from mpigauge.document.plain_signs import printable_lines

    return printable_lines(text)


def say(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print what a measurement ends with, if there is still somebody who reads it.

    Notes are cleaned as those of `note`; documents are clean and may have colours.
    """
    stream = sys.stderr if err else sys.stdout
    try:
        click.echo(clean(text) if err else text, err=err, nl=nl)
        stream.flush()
    except OSError as error:
        if error.errno not in NOBODY_READS:
            raise
        silence(stream)


class Forgiving:
    """An observer whose stream may go away."""

    def __init__(self, observer: Observer, stream: TextIO) -> None:
        self._observer = observer
        self._stream = stream

    def __getattr__(self, name: str) -> Callable[..., None]:
        method = getattr(self._observer, name)

        def told(*values: object) -> None:
            with forgiving(self._stream):
                method(*values)

        return told
