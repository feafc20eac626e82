"""What could not be read: damaged lines of results, and what imported texts leave open or unread."""

from __future__ import annotations

from pathlib import PurePath
from textwrap import shorten
from typing import TYPE_CHECKING

from mpigauge.document.finding import Finding
from mpigauge.sequences import consecutive, runs
from mpigauge.units import DASH, counted, span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.result.reader import Result
    from mpigauge.result.records import Unread
    from mpigauge.rows.rows import Row
    from mpigauge.vocabulary import PackedDamage


# ---- Imported texts ------------------------------------------------------------------------------

MAX_LINE = 76
"""Characters of a doubt: beside its sign it fits into a line of a screen."""

OF_COLUMNS = "table_"
"""What names of patterns begin with that are of the columns of somebody's own table, each of them a run."""

MAX_UNREAD = 4
"""Lines that are named below a table; of more, how many they are."""


def launches_of(results: Sequence[Result]) -> str:
    """Return what intervals of imported times are over, if there are any."""
    most = max((one.launch for result in results for one in result.imported), default=1)
    labelled = [one.cell for result in results for one in result.imported if one.cell.label]
    runs = {cell.label for cell in labelled}
    if most == 1 and len(runs) > 1:
        # Columns of one table cannot be joined.
        tables = any(not cell.pattern.startswith(OF_COLUMNS) for cell in labelled)
        joins = "; import --same makes launches of runs" if tables else ""
        return f"imported: {len(runs)} runs, no samples{joins}"
    if most == 1:
        return "imported: no samples, so no intervals"
    return f"imported: no samples; intervals over {most} launches of one command"


def unread_line(unread: Sequence[Unread]) -> str:
    """Return the first line that was no row, and how many others are, in one line of a screen."""
    first, more = unread[0], f"; {len(unread) - 1} more" if len(unread) > 1 else ""
    behind = f"{_below(first)}{more}"
    said = shorten(f"{_line(first)} ends its table: {first.why}", MAX_LINE - len(behind), placeholder=" ...")
    return f"{said}{behind}"


def unread_lines(unread: Sequence[Unread]) -> Iterator[str]:
    """Yield all lines that were no rows, with what they begin with."""
    for one in unread[:MAX_UNREAD]:
        yield _whole(one)
    if len(unread) > MAX_UNREAD:
        yield f"{len(unread) - MAX_UNREAD} more lines were no rows of their tables"


def unread_findings(result: Result) -> Iterator[Finding]:
    """Yield lines that were no rows as findings, one for each."""
    for one, line in zip(result.unread, map(_whole, result.unread), strict=True):
        facts = {"source": one.source, "why": one.why, "words": one.words, "below": one.below}
        yield Finding("unread", "warning", (), facts, line)


def _whole(one: Unread) -> str:
    return f"{_place(one)} ends its table: {one.why}: {one.words!r}{_below(one)}"


def _line(one: Unread) -> str:
    return one.source.rpartition(": ")[2]


def _place(one: Unread) -> str:
    return f"{PurePath(one.source.rpartition(': ')[0]).name} {_line(one)}"


def _below(one: Unread) -> str:
    return f"; {counted(one.below, 'line')} below not read" if one.below else ""


def nothing_alike(base: Sequence[Row], other: Sequence[Row]) -> str:
    """Return what to do where two results have nothing in common: of imported ones, what each has."""
    if not any(row.imported for row in (*base, *other)):
        return "measure both with one plan: mpigauge run --plan FILE"
    first, second = (_curves(rows) for rows in (base, other))
    return f"the one has {first}, the other {second}"


def _curves(rows: Sequence[Row]) -> str:
    named = dict.fromkeys(f"{row.cell.pattern} {row.cell.mode}" for row in rows)
    return " and ".join([*named][:2]) + (f" and {len(named) - 2} more" if len(named) > 2 else "")  # noqa: PLR2004


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


# ---- Damaged files -------------------------------------------------------------------------------

RUNS_NAMED = 4


PACKED: dict[PackedDamage, str] = {
    "cut": "the compressed file ends in the middle: what it has before that is shown",
    "damaged": "the compressed file is damaged: what it has before that is shown",
    "altered": "the checksum of the compressed file is wrong: numbers may have changed",
}


def damage_finding(result: Result) -> Finding | None:
    """Return what is lost of a file as a finding; None if it is whole."""
    if not (lines := damage_lines(result.damaged, result.packed_damage)):
        return None
    facts: dict[str, object] = {"lines": list(result.damaged)}
    if result.packed_damage:
        facts["packed"] = result.packed_damage
    return Finding("damaged", "warning", (), facts, "; ".join(lines))


def damage_lines(numbers: Sequence[int], packed: PackedDamage | None) -> list[str]:
    """Return what is lost of a file, a line for each reason; none if it is whole."""
    return [
        *([PACKED[packed]] if packed else []),
        *([damaged_line(numbers)] if numbers else []),
    ]


def damaged_line(numbers: Sequence[int]) -> str:
    """Return that lines are lost, and which, neighbours as one."""
    verb = "is" if len(numbers) == 1 else "are"
    return f"{counted(len(numbers), 'line')} of the file {verb} damaged and left out: {_runs(numbers)}"


def _runs(numbers: Sequence[int]) -> str:
    found = runs(numbers, consecutive)
    named = [span(str(run[0]), str(run[-1]), DASH) for run in found[:RUNS_NAMED]]
    return ", ".join([*named, *(["..."] if len(found) > RUNS_NAMED else [])])
