"""Tables on the screen: of result files or of any document, checked before a campaign begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.cli.console import console
from mpigauge.cli.options import chosen_units, words
from mpigauge.cli.results import is_newest
from mpigauge.errors import UsageError, choose_from
from mpigauge.show.formats import TIMED
from mpigauge.show.pivots import ANSWER, CURVES, KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mpigauge.analysis.rows import Row
    from mpigauge.cli.table_cache import TableCache
    from mpigauge.show.document import Document, Units
    from mpigauge.show.query import Query
    from mpigauge.vocabulary import OnlyChoice, StateChoice

BY_CELL = ("csv", *TIMED)
"""Formats of all numbers."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line says of a table.

    Attributes:
        table: Its kind; None for the usual one.
        renames: Placements that are called otherwise: `OLD=NEW`.
    """

    table: str | None
    form: str
    unit_names: tuple[str, ...]
    stat: str
    columns: str
    series: tuple[str, ...] = ()
    sizes: str = ""
    state: StateChoice | None = None
    only: OnlyChoice | None = None
    renames: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """The kind of table: the answer, unless something is asked for that only curves have."""
        by_cell = self.columns or self.series or self.sizes or self.form in BY_CELL
        return self.table or (CURVES if by_cell else ANSWER)


def shown(paths: Sequence[Path], asked: Asked) -> str:
    """As `tabulate`, the table alone: that of a large result that was shown before is kept.

    Raises:
        UsageError: As it does.
    """
    return _cache(paths, asked).find() or tabulate(paths, asked)[0]


def _cache(paths: Sequence[Path], asked: Asked) -> TableCache:
    from mpigauge.cli.table_cache import TableCache

    return TableCache(paths, repr((asked, [is_newest(path) for path in paths])))


def tabulate(paths: Sequence[Path], asked: Asked) -> tuple[str, list[Row]]:
    """A table of result files in one of the forms, and all rows of the first of them.

    Raises:
        UsageError: A file is not a result, a column or unit does not exist, or the results lack what the
            kind of table needs.
    """
    names, chosen = check(asked.unit_names, asked.columns)
    _refuse(asked, paths)

    from mpigauge.plan.sizes import wanted
    from mpigauge.result.reader import load
    from mpigauge.show.query import Query, sources_of
    from mpigauge.show.renamed import renamed, renamings

    wanted(asked.sizes)
    renamings(asked.renames)
    known = _cache(paths, asked)
    sources = renamed(sources_of(map(load, paths), asked.stat, asked.state, asked.only), asked.renames)
    query = Query(KINDS[asked.kind], sources, False, chosen, asked.stat, asked.series, asked.sizes)
    text = rendered(_document(query, names), asked.form)
    known.keep(text)
    return text, sources[0].rows


def _refuse(asked: Asked, paths: Sequence[Path]) -> None:
    """What only other kinds of tables have.

    Raises:
        UsageError: It was asked for.
    """
    if asked.kind == CURVES and len(paths) > 1:
        raise UsageError(
            f"--table {CURVES} does not take a second result", "side by side: --table times, or rates"
        )
    if asked.columns and asked.kind != CURVES:
        raise UsageError(
            f"--table {asked.kind} does not take --columns",
            "leave it out, or choose another kind: mpigauge list tables",
        )


def _document(query: Query, columns: tuple[str, ...]) -> Document:
    """The tables of a kind, before they have a format."""
    from mpigauge.show import pivots
    from mpigauge.show.tables import answer, curves
    from mpigauge.show.tables.selected import selected

    if query.kind.name == ANSWER:
        newest = len(query.sources) == 1 and is_newest(query.sources[0].result.path)
        return answer.document(selected(query), query.units, newest=newest)
    if query.kind.name == CURVES:
        (source,) = selected(query)
        return curves.document(source.result, source.rows, columns, query.units, source.states)
    return pivots.document(query)


def rendered(document: Document, form: str) -> str:
    """A document in one of the formats; text is fitted to a terminal, if standard output is one."""
    if form == "text" and (screen := console()) is not None:
        from mpigauge.show.formats import terminal

        return terminal.render(document, screen)
    from mpigauge.show import formats

    return formats.render(document, form)


def check(unit_names: tuple[str, ...], columns: str) -> tuple[tuple[str, ...], Units]:
    """The columns and units asked for; called before a campaign, not to be wrong only after it.

    Raises:
        UsageError: A column or unit does not exist.
    """
    time, rate = chosen_units(unit_names)

    from mpigauge.show.columns import EXTRA_COLUMNS
    from mpigauge.show.document import Units

    names = words(columns)
    if "all" in names:
        names = tuple(EXTRA_COLUMNS)
    for name in names:
        if name not in EXTRA_COLUMNS:
            hint = choose_from([*EXTRA_COLUMNS, "all"], name)
            raise UsageError(f"--columns: no column is called {name!r}", hint)
    return names, Units(time, rate)
