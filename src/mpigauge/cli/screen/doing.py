"""A line on a terminal that says what is done at the moment, for work that takes seconds."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mpigauge.cli.screen.console import console
from mpigauge.cli.screen.progress import has_terminal
from mpigauge.cli.screen.streams import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


SPINNER = 3
"""Columns that no words are in: a turning bar and a space before them, and the last one."""


@contextmanager
def doing(words: str, *, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """Show words on the last line of a terminal until the work is done, then erase them; nothing on a pipe.

    Yields:
        A function that shows other words instead. What is printed meanwhile appears above them.
    """
    stream = sys.stderr
    screen = console(stream) if not quiet and stream.isatty() and has_terminal(stream) else None
    if screen is None:
        yield lambda _: None
        return

    from rich.live import Live
    from rich.spinner import Spinner
    from rich.text import Text

    def line(said: str) -> Text:
        text = Text(clean(said))
        text.truncate(screen.width - SPINNER, overflow="ellipsis")
        return text

    def other(said: str) -> None:
        spinner.update(text=line(said))
        live.refresh()

    spinner = Spinner("line", line(words))
    with Live(spinner, console=screen, transient=True) as live:
        yield other
