"""The tables of `mpigauge show --table` on a page, number by number."""

# ruff: noqa: RUF001 - pages print dashes and signs of their own

from __future__ import annotations

import re
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from tests.cli.docs.recomputing.ledger import Said, size_of
from tests.cli.docs.recomputing.statistics_of import Interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tests.cli.docs.recomputing.ledger import Ledger
    from tests.cli.docs.recomputing.reading import Row

KINDS = ("latency", "times", "rates", "statistics", "summary")
SOURCE = re.compile(r"^\*([^*].*)\*$")
CAPTION = re.compile(r"^\*\*(\w+)(?: · (.*?))?\*\*(?: \(.*\))?$")
MARKS = re.compile(r"[\N{MODIFIER LETTER SMALL A}-\N{MODIFIER LETTER SMALL THETA}ᵃ-ᶿ]+")
SIZE = re.compile(r"[\d.]+ (?:B|[KMG]iB)")
UNIT = r"(ns|µs|ms|s|[MG]B/s|[MG]bit/s)"
TIME = re.compile(rf"^([\d.e+-]+) {UNIT}(?: \(([\d.e+-]+) – ([\d.e+-]+)\)| ±([\d.]+) %)?$")
COUNT = re.compile(r"^(\d+)(?: in (\d+))?$")
GIVEN = ("time", "latency", "bandwidth", "mean", "std. dev.", "n")


def check_tables(ledger: Ledger, text: str, rows: Sequence[Row]) -> None:
    """All of an output."""
    lines, titles = text.splitlines(), ""
    for place, line in enumerate(lines):
        source = SOURCE.match(line)
        titles = source[1] if source else titles
        caption = CAPTION.match(line)
        if caption and caption[1] in KINDS:
            table = list(_until_empty(lines[place + 2 :]))
            head, *body = [_cells(one) for one in table if not one.startswith("| ---")]
            mine = [row for row in rows if row.result is None or row.result.title in titles]
            for cells in body:
                _check_line(ledger, caption, head, cells, mine)


def _until_empty(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        if not line.startswith("|"):
            return
        yield line


def _cells(line: str) -> list[str]:
    return [MARKS.sub("", cell.strip()) for cell in line.strip("|").split(" | ")]


def _check_line(
    ledger: Ledger, caption: re.Match[str], head: Sequence[str], cells: Sequence[str], rows: Sequence[Row]
) -> None:
    for heading, cell in zip(head[1:], cells[1:], strict=True):
        imported = heading == "imported" or heading.endswith("(imported)")
        heading = "" if heading == "imported" else heading.removesuffix("(imported)").strip()  # noqa: PLW2901
        words = [*(caption[2] or "").split(", "), *cells[0].split(", "), *heading.split(", ")]
        said = Said(ledger, cell)
        if cell == "–" or cell.startswith(("blocked", "not ")):
            continue
        row = find(words, [row for row in rows if (row.result is None) == imported])
        where = f"{caption[1]} {', '.join(filter(None, words))}"
        if row == "none":
            ledger.differ.append(f"no such cell: {where}: {cell}")
            continue
        if isinstance(row, str):
            ledger.left(cell, f"no cell of its own, {where}")
            continue
        said.text = f"{cell}"
        before = len(ledger.differ)
        _check(said, row, next((word for word in GIVEN if word in words), _usual(caption[1])))
        ledger.differ[before:] = [f"{where}: {one}" for one in ledger.differ[before:]]
        said.close(where)


def _usual(kind: str) -> str:
    return "bandwidth" if kind == "rates" else "time"


def find(words: Iterable[str], rows: Iterable[Row]) -> Row | str:
    """The cell with these words; `none` or `several` if there is not just one."""
    kept = [word for word in words if word and word not in GIVEN]
    sizes = {size_of(word) for word in kept if SIZE.fullmatch(word)}
    named = {word for word in kept if word and not SIZE.fullmatch(word)}
    found = [row for row in rows if row.timed and named <= row.words and sizes <= {row.bytes}]
    usual = [row for row in found if (row.called or row.placement) in {"same-host", *named}]
    if not found:
        return "none"
    return found[0] if len(found) == 1 else usual[0] if len(usual) == 1 else "several"


def _check(said: Said, row: Row, what: str) -> None:
    if (count := COUNT.match(said.text)) and what == "n":
        said.number(count.span(1), "", len(row.samples))
        said.number(count.span(2), "", len(row.launches))
    elif match := TIME.match(said.text):
        unit = match[2]
        if what in ("mean", "std. dev."):
            said.number(match.span(1), unit, _described(row, what))
            return
        over = row.bytes_per_time if what == "bandwidth" else 0.0
        known = [_rate(one, over) if over else one for one in row.time]
        said.number(match.span(1), unit, *(one.estimate for one in known))
        said.number(match.span(3), unit, *(one.low for one in known))
        said.number(match.span(4), unit, *(one.high for one in known))
        said.number(match.span(5), "%", *(one.half_width for one in row.time if one.high))


def _described(row: Row, what: str) -> float | None:
    if row.result is None:
        return row.printed_s if what == "mean" else row.printed_stddev_s
    return fmean(row.samples) if what == "mean" else stdev(row.samples)


def _rate(one: Interval, over: float) -> Interval:
    low, high = (over / end if end else None for end in (one.high, one.low))
    return Interval(over / one.estimate, low, high, one.launches)
