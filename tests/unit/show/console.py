"""A terminal of any width, in memory."""

from __future__ import annotations

import io

from rich.console import Console


def console(width: int, encoding: str = "utf-8", *, color: bool = False) -> Console:
    """A terminal of this width, as `cli.screen` makes one."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding)
    return Console(
        file=stream,
        width=width,
        force_terminal=True,
        color_system="standard" if color else None,
        no_color=not color,
        highlight=False,
        markup=False,
        emoji=False,
    )
