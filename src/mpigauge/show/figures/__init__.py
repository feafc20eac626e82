"""Figures: KINDS is the one list of them; `list plots`, help, documentation and tests are computed from it.

To add one: a function from `Query` to a matplotlib figure under `@maker` in a module of this folder, and a
line in KINDS. Only the modules that draw import matplotlib, and only when they are used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from mpigauge.show.registry import Kind

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from matplotlib.figure import Figure

    from mpigauge.show.query import Query


KINDS = {
    kind.name: kind
    for kind in (
        Kind(
            "time",
            "time against size, with the ratio to the first series below",
            "cells of any size",
            "curves",
        ),
        Kind(
            "rate",
            "bandwidth against size, with the ratio to the first series below",
            "cells that move bytes",
            "curves",
        ),
        Kind(
            "ratio",
            "time over that of the first series, against size",
            "two series of the same sizes",
            "curves",
        ),
        Kind(
            "mean", "mean and standard deviation of all samples, against size", "cells of any size", "curves"
        ),
        Kind(
            "modes",
            "bandwidth of send modes against size, one panel per place",
            "two modes of a pattern",
            "panels",
        ),
        Kind(
            "placements",
            "bandwidth against size, one panel per placement and transport, on shared axes",
            "two placements or transports",
            "panels",
        ),
        Kind("ranks", "time against number of ranks, one line per size", "two numbers of ranks", "ranks"),
        Kind(
            "memory",
            "bandwidth of messages and of copies in memory against size, cache levels marked",
            "messages, and copies such as memcpy",
            "memory",
        ),
        Kind(
            "memory-ratio",
            "time of a message in copies of its size, the least marked",
            "pingpong, and copies of the same sizes",
            "memory",
        ),
        Kind("distribution", "how the samples of every size are spread", "samples", "samples"),
        Kind("samples", "samples in the order of measuring: warm-up, drift, launches", "samples", "samples"),
        Kind(
            "cpu",
            "CPU time of one operation, waiting included, against size",
            "cells whose CPU time is known",
            "cpu_skew",
        ),
        Kind(
            "skew",
            "how far apart the ranks start, against size",
            "collectives that start together",
            "cpu_skew",
        ),
        Kind("map", "latency and bandwidth of all pairs as a heat map", "a map of all pairs", "map"),
    )
}

MAKERS: dict[str, Callable[[Query], Figure]] = {}
"""Of each kind whose module is loaded, the function that draws it."""

FORMS = (".png", ".svg", ".pdf")


def figure(query: Query) -> Figure:
    """Draws it.

    Raises:
        UsageError: The results lack what the kind needs.
    """
    from mpigauge.show.figures import style  # noqa: PLC0415 - matplotlib, which nobody else waits for

    importlib.import_module(f"mpigauge.show.figures.{query.kind.module}")
    with style.style():
        return MAKERS[query.kind.name](query)


def draw(query: Query, path: Path) -> None:
    """Writes a figure; its form is that of the file's name.

    Raises:
        UsageError: The results lack what the kind needs, or the file cannot be written.
    """
    from mpigauge.show.figures import style  # noqa: PLC0415

    drawn = figure(query)
    with style.style():
        style.save(drawn, path)
