"""What there is to say of times that other programs have printed: launches, lines not read, unknown ranks."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from mpigauge.show.words.finding import Finding
from mpigauge.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mpigauge.analysis.rows import Row
    from mpigauge.result.reader import Result
    from mpigauge.result.records import Unread

UNREAD_MOST = 4
"""Lines that are named below a table; of more, how many they are."""


def launches_of(results: Iterable[Result]) -> str:
    """Return what intervals of imported times are over, if there are any."""
    most = max((one.launch for result in results for one in result.imported), default=1)
    if most == 1:
        return "imported: no samples, so no intervals"
    return f"imported: no samples; intervals over {most} launches of one command"


def unread_line(unread: Sequence[Unread]) -> str:
    """Return the first line that was no row, and how many others are."""
    more = f"; {len(unread) - 1} more" if len(unread) > 1 else ""
    return f"{_place(unread[0])} ends its table: {unread[0].why}{_below(unread[0])}{more}"


def unread_lines(unread: Sequence[Unread]) -> Iterator[str]:
    """All lines that were no rows, with what they begin with."""
    for one in unread[:UNREAD_MOST]:
        yield _whole(one)
    if len(unread) > UNREAD_MOST:
        yield f"{len(unread) - UNREAD_MOST} more lines were no rows of their tables"


def unread_findings(result: Result) -> Iterator[Finding]:
    """The same as findings, one for each line."""
    for one, line in zip(result.unread, map(_whole, result.unread), strict=True):
        facts = {"source": one.source, "why": one.why, "words": one.words, "below": one.below}
        yield Finding("unread", "warning", (), facts, line)


def _whole(one: Unread) -> str:
    return f"{_place(one)} ends its table: {one.why}: {one.words!r}{_below(one)}"


def _place(one: Unread) -> str:
    file, _, line = one.source.rpartition(": ")
    return f"{PurePath(file).name} {line}"


def _below(one: Unread) -> str:
    return f"; {counted(one.below, 'row')} below not read" if one.below else ""


def unknown_ranks(sides: Sequence[tuple[str, Sequence[Row]]]) -> str:
    """Return that some of several results do not say how many ranks took part; empty if all do.

    Args:
        sides: Of each result its file and rows.
    """
    files = [
        PurePath(file).name
        for file, rows in sides
        if any(row.imported and not row.cell.ranks for row in rows)
    ]
    if not files:
        return ""
    who = "none of them says" if len(files) == len(sides) else f"{', '.join(files)} does not say"
    return f"ranks unknown: {who} how many took part; mpigauge import --np N does"
