"""Figures: KINDS is the one list of them; `list plots`, help, documentation and tests derive from it.

To add one: a row of `against_size.FIGURES` or an `AgainstCount`, or, of another shape, a function from
`Query` to a matplotlib figure under `@maker` in a module of this folder; a line in KINDS, of which `make
docs` makes pages and figures; a test of its name in tests/unit/show/test_figures.py; and, if a single small
cell is too little for it, a line of `ONE_CELL_LACKS` in test_figure_choices.py. Only the modules that draw
import matplotlib, and only when they are used.
"""

from __future__ import annotations

import contextlib
import importlib
from typing import TYPE_CHECKING

from mpigauge.errors import UsageError
from mpigauge.inputs import check_output
from mpigauge.query.kinds import DisplayKind

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from matplotlib.figure import Figure

    from mpigauge.query.query import Query


KINDS = {
    kind.name: kind
    for kind in (
        DisplayKind(
            "overview",
            "a panel per family against size: latency, bandwidth, collectives, memory",
            "cells of any size",
            "overview",
            example='libraries.jsonl --series "openmpi 2 ranks" -o overview.png',
        ),
        DisplayKind(
            "time",
            "time against size, with ratios to another series below",
            "cells of any size",
            "curves",
            aliases=("latency",),
            example="exchange.jsonl --kind time -o exchange.png",
        ),
        DisplayKind(
            "rate",
            "bandwidth against size, with ratios to another series below",
            "cells that move bytes",
            "curves",
            aliases=("bandwidth",),
            example='fast-gigabit.jsonl --kind rate --series "pingpong h1,h2=Gigabit Ethernet" --series '
            '"pingpong h1,h3=Fast Ethernet" --series "pingpong same-host=shared memory" --unit '
            "MB/s --reference tcp -o networks.png",
        ),
        DisplayKind(
            "ratio",
            "time over that of the first series, against size",
            "two series of the same sizes",
            "curves",
            example='modes.jsonl --kind ratio --series "pingpong standard" --series "pingpong synchronous" '
            "-o modes-ratio.png",
        ),
        DisplayKind(
            "compare",
            "how many times as long each number takes, with its interval and verdict",
            "two of anything, in five launches or more",
            "compare",
            example="wan.jsonl --kind compare --by mpi -o wan-compare.png",
        ),
        DisplayKind(
            "mean",
            "mean and standard deviation of all samples, against size",
            "cells of any size",
            "curves",
            example="ring.jsonl --kind mean -o ring-mean.png",
        ),
        DisplayKind(
            "modes",
            "bandwidth of send modes against size, one panel per place",
            "two modes of a pattern",
            "panels",
            example="modes.jsonl --kind modes --linear --unit Gbit/s --reference crosscopy -o modes.png",
        ),
        DisplayKind(
            "placements",
            "bandwidth against size, one panel per placement and transport, on shared axes",
            "two placements or transports",
            "panels",
            example='placements.jsonl --kind placements --series "exchange" --unit Gbit/s -o placements.png',
        ),
        DisplayKind(
            "ranks",
            "time against number of ranks, one line per size",
            "two numbers of ranks",
            "counts",
            example='libraries.jsonl --kind ranks --series barrier --series "allreduce 8 B" --series '
            '"allreduce 64 KiB" -o libraries-ranks.png',
        ),
        DisplayKind(
            "pairs",
            "rate of many ranks at once against the number of pairs, beside that of so many times the fewest",
            "multi-stream, incast or outcast of two numbers of ranks or senders",
            "counts",
            example="uplink.jsonl --kind pairs -o uplink.png",
        ),
        DisplayKind(
            "parts",
            "time against depth of a queue, size of blocks, number of partitions, a panel each",
            "two of one of these, of `matching`, `layout`, `partitioned` or `early-bird`",
            "counts",
            example="parts.jsonl --kind parts -o parts.png",
        ),
        DisplayKind(
            "memory",
            "bandwidth of messages and of copies in memory against size, cache levels marked",
            "messages, and copies such as memcpy",
            "memory",
            example='network-memory.jsonl --kind memory --series pingpong --series "copy O3" --series '
            '"copy O0" --series memcpy -o memory.png',
        ),
        DisplayKind(
            "memory-ratio",
            "time of a message in copies of its size, the least marked",
            "pingpong, and copies of the same sizes",
            "memory",
            example="network-memory.jsonl --kind memory-ratio -o memory-ratio.png",
        ),
        DisplayKind(
            "one-sided",
            "one-sided operations in all ways of synchronising, beside messages and copies",
            "one-sided operations",
            "one_sided",
            example="one-sided.jsonl --kind one-sided --series put --series get --series put-notify "
            "--series pingpong --sizes 8 -o one-sided.png",
        ),
        DisplayKind(
            "distribution",
            "how the samples of every size are spread",
            "samples",
            "samples",
            example="modes.jsonl --kind distribution --series pingpong --sizes "
            "1,1KiB,28KiB,244KiB,487KiB,1000KiB -o modes-distribution.png",
        ),
        DisplayKind(
            "samples",
            "samples in the order of measuring: warm-up, drift, launches",
            "samples",
            "samples",
            example='ring.jsonl --kind samples --series "ring 2 ranks" --sizes 32,64KiB -o ring-samples.png',
        ),
        DisplayKind(
            "states",
            "how far apart the ranks were, how fast their cores, and what small messages took, against time",
            "visits that say how long a cache line took (of this version or newer)",
            "states",
            example="states.jsonl --kind states -o states.png",
        ),
        DisplayKind(
            "history",
            "what cells took in each of several results, against time, changes marked",
            "results of four times or more",
            "history",
        ),
        DisplayKind(
            "cpu",
            "CPU time of one operation, waiting included, against size",
            "cells whose CPU time is known",
            "against_size",
            example='libraries.jsonl --kind cpu --series "allreduce" -o libraries-cpu.png',
        ),
        DisplayKind(
            "skew",
            "how far apart the ranks start, against size",
            "collectives that start together",
            "against_size",
            example='libraries.jsonl --kind skew --series "bcast 4 ranks" --series "bcast 8 ranks" -o '
            "libraries-skew.png",
        ),
        DisplayKind(
            "overlap",
            "which part of an operation's time a computation hides, against size",
            "operations beside a computation: `message-overlap`, `overlap` of collectives",
            "against_size",
        ),
        DisplayKind(
            "map",
            "latency and bandwidth of all pairs as a heat map",
            "a map of all pairs",
            "map",
            example="map.jsonl --kind map -o map.png",
        ),
    )
}

ALIASES = {alias: kind.name for kind in KINDS.values() for alias in kind.aliases}
"""Other names of kinds."""

MAKERS: dict[str, Callable[[Query], Figure]] = {}
"""Function that draws each kind, for kinds whose module is loaded."""

OVERVIEW = "overview"
"""Kind of figure of results of which nothing else is the usual one."""

MAX_ORIGINS = 4

FORMS = (".png", ".svg", ".pdf")
BEGINNINGS = (b"\x89PNG", b"<?xml", b"<svg", b"%PDF")
"""How figures begin: those that are there already are replaced."""


def check_place(path: Path) -> None:
    """Refuse the name of a file that is not a figure, such as a result: it would be lost.

    Raises:
        UsageError: The name is one, or that of a device, a pipe or a folder.
    """
    check_output(path)
    with contextlib.suppress(OSError), path.open("rb") as file:
        if (begin := file.read(8)) and not begin.startswith(BEGINNINGS):
            raise UsageError(f"{path}: is there already, and is no figure", "choose another name: -o FILE")


def figure(query: Query) -> Figure:
    """Draw the figure that a query asks for.

    Raises:
        UsageError: The results lack what the kind needs.
    """
    from mpigauge.show.figures import fit, lines, style  # noqa: PLC0415 - matplotlib, which nobody else waits for

    importlib.import_module(f"mpigauge.show.figures.{query.kind.module}")
    with style.style(query.paper.width_in):
        whole = MAKERS[query.kind.name](query)
        if query.paper.title:
            whole.suptitle(query.paper.title, fontsize=9)
        lines.origin(whole, origins(query))
        fit.fit(whole)
        return whole


def origins(query: Query) -> list[str]:
    """Return where and when each result was measured, with its name if there are several; of many, two."""
    from mpigauge.document.origin_words import measured_on  # noqa: PLC0415 - results, which help does not wait for

    names_and_places = [(source.name, measured_on(source.result)) for source in query.sources]
    if len(names_and_places) == 1 or len({words for _, words in names_and_places}) == 1:
        return [words for _, words in names_and_places[:1] if words]
    named = [f"{name}: {words or 'not known'}" for name, words in names_and_places]
    return named if len(named) <= MAX_ORIGINS else [named[0], f"and {len(named) - 2} more", named[-1]]


def draw(query: Query, path: Path) -> None:
    """Draw a figure into a file, in the format of its suffix.

    Raises:
        UsageError: The results lack what the kind needs.
        EnvironmentLacksError: The file cannot be written.
    """
    from mpigauge.show.figures import style  # noqa: PLC0415

    drawn = figure(query)
    with style.style():
        style.save(drawn, path, [*_named(query), *filter(None, [query.paper.command])])


def _named(query: Query) -> list[str]:
    """Return the result files with where and when each was measured."""
    from mpigauge.document.origin_words import measured_on  # noqa: PLC0415

    return [f"{source.result.path.name}: {measured_on(source.result)}" for source in query.sources]
