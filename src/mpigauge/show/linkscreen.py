"""A link map on a terminal: what `linkmap` writes as text, fitted to the width."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from mpigauge import units
from mpigauge.show import linkmap
from mpigauge.show.terminal import GAP, Page, hidden_line, printed
from mpigauge.show.words.map import note

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from mpigauge.analysis.linkmap import Link, LinkMap

STYLES = {"slow": "red", "failed": "red", "undecided": "yellow", "perhaps": "yellow", "nothing": "green"}
"""By the first word of a verdict."""


def render(shown: LinkMap, console: Console, *, quiet: bool) -> str:
    """The map, or of it only the verdict."""
    page = Page(console)
    lines = _verdict(shown, page) if quiet else _whole(shown, page)
    return printed(lines, console)


def _whole(shown: LinkMap, page: Page) -> Iterator[Text]:
    first, *others = linkmap.head(shown)
    yield from page.wrapped(first, "bold")
    for line in others:
        yield from page.wrapped(line)
    yield Text()
    yield from _matrices(shown, page)
    yield from _verdict(shown, page)
    for line in (*map(note, shown.verdict.notes), linkmap.error_rate(shown)):
        yield from page.wrapped(line)


def _verdict(shown: LinkMap, page: Page) -> Iterator[Text]:
    for line in linkmap.verdict_lines(shown):
        yield from page.wrapped(line, STYLES.get(line.partition(" ")[0].rstrip(":"), ""))


def _matrices(shown: LinkMap, page: Page) -> Iterator[Text]:
    """Bare numbers, whose unit the title has; those of slow or failed links and of slow hosts are red."""
    if len(shown.names) > linkmap.MATRIX_MOST:
        return
    slow = {one.names for one in shown.verdict.links} | {link.names for link in shown.links if link.trouble}
    hosts = {name for one in shown.verdict.hosts for name in one.names}
    for what, size, _, get in linkmap.quantities(shown):
        values = {link.ranks: get(link) for link in shown.links}
        unit, words = _in_one_unit(what, values)
        title = f"{what} of {units.format_size(size)}, {unit}"
        marked = {link.ranks for link in shown.links if link.names in slow or hosts & set(link.names)}
        yield from page.wrapped(title, "bold")
        yield from _matrix([page.shown(name) for name in shown.names], words, marked, page)
        yield Text()


Pair = tuple[int, int]


def _in_one_unit(what: str, values: dict[Pair, float | None]) -> tuple[str, dict[Pair, str]]:
    if what == "latency":
        unit = units.time_unit(values.values())
        return unit, {pair: units.format_time_in(value, unit) for pair, value in values.items()}
    unit = units.rate_unit(values.values())
    return unit, {pair: units.format_rate_in(value, unit) for pair, value in values.items()}


def _matrix(names: Sequence[str], words: dict[Pair, str], marked: set[Pair], page: Page) -> Iterator[Text]:
    entries = {(i, j): page.shown(text) for (i, j), text in words.items()}
    entries |= {(j, i): text for (i, j), text in entries.items()}
    everyone = range(len(names))
    first = max(map(cell_len, names))
    widths = [max([cell_len(names[j]), *(len(entries.get((i, j), "")) for i in everyone)]) for j in everyone]
    if (need := GAP + first + sum(GAP + width for width in widths)) > page.width:
        words_ = f"all pairs need {need} columns: widen the terminal, or draw them with --figure FILE"
        yield from page.wrapped(words_, indent=GAP)
        return
    yield _line([("", first), *zip(names, widths, strict=True)], ["dim"] * (len(names) + 1))
    for i in everyone:
        cells = [(names[i], first), *((entries.get((i, j), ""), widths[j]) for j in everyone)]
        yield _line(cells, ["dim", *("red" if {(i, j), (j, i)} & marked else "" for j in everyone)])


def _line(cells: Sequence[tuple[str, int]], styles: Sequence[str]) -> Text:
    line = Text()
    for (words, width), style in zip(cells, styles, strict=True):
        line.append(" " * (GAP + width - cell_len(words)))
        line.append(words, style)
    line.rstrip()
    return line


def beside(links: Sequence[Link], console: Console) -> str:
    """Times by size of some pairs; those on the right are hidden for want of width."""
    page = Page(console)
    table = [[page.shown(words) for words in line] for line in linkmap.beside_table(links)]
    widths = [max(map(cell_len, column)) for column in zip(*table, strict=True)]
    count = len(widths)
    while count > 2 and sum(GAP + width for width in widths[:count]) > page.width:  # noqa: PLR2004 - size, a pair
        count -= 1
    lines = [
        page.cut(
            _line(list(zip(row[:count], widths[:count], strict=True)), ["" if number else "dim"] * count)
        )
        for number, row in enumerate(table)
    ]
    return printed([*lines, *hidden_line(table[0][count:], page)], console)
