"""Where text for people goes: a terminal with a width and colours, or a pipe."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, TextIO

import click

if TYPE_CHECKING:
    from rich.console import Console

COLORS = {"auto": None, "always": True, "never": False}
"""Values of --color, and what click's contexts call them."""


def _keep(context: click.Context, _: click.Parameter, value: str) -> None:
    """Store the choice in the context, where `click.echo` reads it, too."""
    context.color = COLORS[value]


color_option = click.option(
    "--color",
    type=click.Choice(list(COLORS)),
    default="auto",
    show_default=True,
    expose_value=False,
    callback=_keep,
    help="Colours; auto: on a terminal, unless NO_COLOR is set.",
)


def colored(stream: TextIO) -> bool:
    """Return whether a stream gets colours: as --color says, else NO_COLOR, else if it is a terminal."""
    context = click.get_current_context(silent=True)
    if context is not None and context.color is not None:
        return context.color
    dumb = os.environ.get("TERM", "") in ("", "dumb")
    return stream.isatty() and not dumb and not os.environ.get("NO_COLOR")


def console(stream: TextIO | None = None) -> Console | None:
    """Return the console that text is fitted to and coloured for; None where it stays plain: on a pipe.

    --color is about colours only: with it, text on a pipe still has no limit of width.
    """
    stream = stream or sys.stdout
    if not stream.isatty() and not colored(stream):
        return None

    from rich.console import Console

    from mpigauge.show.formats.terminal import UNLIMITED

    return Console(
        file=stream,
        force_terminal=True,
        color_system="standard" if colored(stream) else None,
        no_color=not colored(stream),
        width=None if stream.isatty() else UNLIMITED,
        highlight=False,
        markup=False,
        emoji=False,
    )
