"""Tables on the screen: of result files or of any document, checked before a campaign begins."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mpigauge.cli.options.common import chosen_units, words
from mpigauge.cli.options.results import is_newest
from mpigauge.cli.options.selection import EVERYTHING, Selection
from mpigauge.cli.screen.console import console
from mpigauge.cli.screen.streams import note
from mpigauge.errors import UsageError, choose_from
from mpigauge.show.formats import BY_CELL, FOREIGN
from mpigauge.show.pivots import ANSWER, CURVES, KINDS, SAMPLES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from mpigauge.cli.screen.table_cache import TableCache
    from mpigauge.document.document import Document, Units
    from mpigauge.plan.model import Cell
    from mpigauge.query.query import Query, Source
    from mpigauge.result.reader import Result
    from mpigauge.rows.rows import Row
    from mpigauge.vocabulary import StateChoice

OF_SAMPLES = ("csv", "parquet")
"""Formats of every sample."""


@dataclass(frozen=True, slots=True)
class TableRequest:
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
    selection: Selection = EVERYTHING
    renames: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """The kind of table: the answer, unless something is asked for that only curves have."""
        by_cell = self.columns or self.selection.series or self.selection.sizes or self.form in BY_CELL
        return self.table or (CURVES if by_cell else ANSWER)


def shown(paths: Sequence[Path], asked: TableRequest) -> str:
    """As `tabulate`, the table alone: that of a large result that was shown before is kept.

    Raises:
        UsageError: As it does.
    """
    cache = _cache(paths, asked)
    if (known := cache.find()) is not None:
        return _told(known, asked.form)
    return _tabulate(paths, asked, cache)[0]


def documents(paths: Sequence[Path], asked: TableRequest, forms: Sequence[str]) -> Iterator[Document]:
    """A table of result files for each form; every file is loaded once.

    Raises:
        UsageError: As `tabulate`.
    """
    each = [replace(asked, form=form) for form in forms]
    checked = [_checked(paths, one) for one in each]
    if asked.kind == SAMPLES:
        yield from [_samples(paths, asked)] * len(forms)
        return
    sources = _sources(paths, asked)
    for one, (names, chosen) in zip(each, checked, strict=True):
        yield _document(_query(sources, one, chosen), names)


def _samples(paths: Sequence[Path], asked: TableRequest) -> Document:
    """Every sample; only series need what is computed from samples, which takes long of many."""
    from mpigauge.cli.options.results import load
    from mpigauge.plan.sizes import size_filter
    from mpigauge.show import samples
    from mpigauge.show.selected import selected

    picked = asked.selection
    if picked.series:
        _, chosen = check(asked.unit_names, asked.columns)
        sources = selected(_query(_sources(paths, asked, picked.state or "all"), asked, chosen))
        return samples.document([samples.chosen_of_rows(source, picked.state) for source in sources])
    sizes = size_filter(picked.sizes)

    def keep(cell: Cell) -> bool:
        return sizes(cell.bytes)

    return samples.document(
        [samples.chosen_of(load(path), picked.state, picked.only, keep) for path in paths]
    )


def _cache(paths: Sequence[Path], asked: TableRequest) -> TableCache:
    from mpigauge.cli.screen.table_cache import TableCache

    return TableCache(paths, repr((asked, [is_newest(path) for path in paths])))


def tabulate(
    paths: Sequence[Path], asked: TableRequest, loaded: Sequence[Result] | None = None
) -> tuple[str, list[Row]]:
    """A table of result files in one of the forms, and all rows of the first of them.

    Args:
        loaded: The results, if they are in memory already.

    Raises:
        UsageError: A file is not a result, a column or unit does not exist, or the results lack what the
            kind of table needs.
    """
    return _tabulate(paths, asked, _cache(paths, asked), loaded)


def _tabulate(
    paths: Sequence[Path], asked: TableRequest, cache: TableCache, loaded: Sequence[Result] | None = None
) -> tuple[str, list[Row]]:
    names, chosen = _checked(paths, asked)
    sources = _sources(paths, asked, loaded=loaded)
    text = rendered(_document(_query(sources, asked, chosen), names), asked.form)
    cache.keep(text)
    return text, sources[0].rows


def _checked(paths: Sequence[Path], asked: TableRequest) -> tuple[tuple[str, ...], Units]:
    """Columns and units, after all that can be wrong before a file is read."""
    found = check(asked.unit_names, asked.columns)
    _refuse(asked, paths)

    from mpigauge.query.renamed import renamings

    asked.selection.check()
    renamings(asked.renames)
    return found


def _sources(
    paths: Sequence[Path],
    asked: TableRequest,
    state: StateChoice | None = None,
    loaded: Iterable[Result] | None = None,
) -> list[Source]:
    from mpigauge.cli.options.results import load
    from mpigauge.query.query import sources_of
    from mpigauge.query.renamed import renamed

    return renamed(
        sources_of(
            map(load, paths) if loaded is None else loaded,
            asked.stat,
            state or asked.selection.state,
            asked.selection.only,
        ),
        asked.renames,
    )


def _query(sources: Sequence[Source], asked: TableRequest, chosen: Units) -> Query:
    from mpigauge.query.query import Query

    picked = asked.selection
    return Query(KINDS[asked.kind], [*sources], False, chosen, asked.stat, picked.series, picked.sizes)


def _refuse(asked: TableRequest, paths: Sequence[Path]) -> None:
    """What only other kinds of tables have.

    Raises:
        UsageError: It was asked for.
    """
    if asked.kind == CURVES and len(paths) > 1:
        raise UsageError(
            f"--table {CURVES} does not take a second result", "side by side: --table times, or rates"
        )
    if asked.kind == SAMPLES and asked.form not in OF_SAMPLES:
        raise UsageError(
            f"--table {SAMPLES} has a line for every sample, which is nothing to read",
            f"choose --format {' or '.join(OF_SAMPLES)}, or -o samples.csv",
        )
    if asked.columns and asked.kind != CURVES:
        raise UsageError(
            f"--table {asked.kind} does not take --columns",
            "leave it out, or choose another kind: mpigauge list tables",
        )


def _document(query: Query, columns: tuple[str, ...]) -> Document:
    """The tables of a kind, before they have a format."""
    from mpigauge.find import maps
    from mpigauge.show import answer, curves, pivots
    from mpigauge.show.selected import selected

    if query.kind.name == ANSWER:
        newest = len(query.sources) == 1 and is_newest(query.sources[0].result.path)
        chosen = selected(query)
        return maps.answered(answer.document(chosen, query.units, newest=newest), chosen)
    if query.kind.name == CURVES:
        (source,) = selected(query)
        document = curves.document(
            source.result, source.rows, columns, query.units, source.states, source.stat
        )
        return maps.begun(document, [source])
    return maps.begun(pivots.document(query), query.sources)


def rendered(document: Document, form: str) -> str:
    """A document in one of the formats; text is fitted to a terminal, if standard output is one."""
    if form == "text" and (screen := console()) is not None:
        from mpigauge.show.formats import terminal

        return terminal.render(document, screen)
    from mpigauge.show import formats

    return _told(formats.render(document, form), form)


def _told(text: str, form: str) -> str:
    """The same text; what its format has no place for is named beside it."""
    if form in FOREIGN:
        from mpigauge.show.formats import left_out

        for line in left_out(text):
            note(line)
    return text


def check(unit_names: tuple[str, ...], columns: str) -> tuple[tuple[str, ...], Units]:
    """The columns and units asked for; called before a campaign, not to be wrong only after it.

    Raises:
        UsageError: A column or unit does not exist.
    """
    time, rate = chosen_units(unit_names)

    from mpigauge.document.document import Units
    from mpigauge.show.columns import EXTRA_COLUMNS

    names = words(columns)
    if "all" in names:
        names = tuple(EXTRA_COLUMNS)
    for name in names:
        if name not in EXTRA_COLUMNS:
            hint = choose_from([*EXTRA_COLUMNS, "all"], name, listed_by="mpigauge list columns")
            raise UsageError(f"--columns: no column is called {name!r}", hint)
    return names, Units(time, rate)
