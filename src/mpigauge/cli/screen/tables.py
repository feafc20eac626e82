"""Tables of result files, with options that are checked before a campaign begins."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mpigauge.ask import EVERYTHING, Request, Selection, table_of
from mpigauge.cli.options.common import units_of, words
from mpigauge.cli.options.selection import load
from mpigauge.cli.screen.console import console
from mpigauge.cli.screen.streams import note
from mpigauge.errors import UsageError, choose_from
from mpigauge.result.files import is_newest
from mpigauge.show.formats import BY_CELL, FOREIGN
from mpigauge.show.pivots import ANSWER, CURVES, KINDS, SAMPLES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from mpigauge.cli.screen.table_cache import TableCache
    from mpigauge.document.document import Document, Units
    from mpigauge.plan.model import Cell
    from mpigauge.query.query import Source
    from mpigauge.result.reader import Result
    from mpigauge.rows.rows import Row

SAMPLE_FORMATS = ("csv", "parquet")
"""Formats of the table of samples."""


@dataclass(frozen=True, slots=True)
class TableOptions:
    """Options of a table.

    Attributes:
        table: Its kind; None for the usual one.
        renames: Placements to be shown under another name: `OLD=NEW`.
        chart: Whether an answer has a chart; None for where it fits on the terminal.
    """

    table: str | None
    form: str
    unit_names: tuple[str, ...]
    stat: str
    columns: str
    selection: Selection = EVERYTHING
    renames: tuple[str, ...] = ()
    chart: bool | None = None

    @property
    def kind(self) -> str:
        """Kind of table: the answer, unless an option needs curves."""
        by_cell = self.columns or self.selection.series or self.selection.sizes or self.form in BY_CELL
        return self.table or (CURVES if by_cell else ANSWER)


def shown(paths: Sequence[Path], options: TableOptions) -> str:
    """Return the table of `tabulate` without the rows; from the cache if a large result was shown before.

    Raises:
        UsageError: An option is invalid, as in `tabulate`.
    """
    cache = _cache(paths, options)
    if (known := cache.find()) is not None:
        return _with_notes(known, options.form)
    return _tabulate(paths, options, cache)[0]


def documents(paths: Sequence[Path], options: TableOptions, forms: Sequence[str]) -> Iterator[Document]:
    """Return a table of result files per format, reading each file once.

    Raises:
        UsageError: An option is invalid, as in `tabulate`.
    """
    options_by_format = [replace(options, form=form) for form in forms]
    requests = [_request(paths, options_) for options_ in options_by_format]
    if options.kind == SAMPLES:
        yield from [_samples(paths, requests[0][0])] * len(forms)
        return
    sources = requests[0][0].sources(map(load, paths))
    for request, columns in requests:
        yield _table(request, sources, columns, chart=options.chart is True)


def _samples(paths: Sequence[Path], request: Request) -> Document:
    """Return all samples; rows, which take long to compute from many samples, are needed for series only."""
    from mpigauge.plan.sizes import size_filter
    from mpigauge.show import samples

    results = map(load, paths)
    if request.selection.series:
        every = replace(request, each_state=True)
        return samples.document(every.samples_of(every.selected(results)))
    sizes = size_filter(request.selection.sizes)

    def keep(cell: Cell) -> bool:
        return sizes(cell.bytes)

    return samples.document(request.samples(results, keep))


def _cache(paths: Sequence[Path], options: TableOptions) -> TableCache:
    from mpigauge.cli.screen.table_cache import TableCache

    return TableCache(paths, repr((options, [is_newest(path) for path in paths])))


def tabulate(
    paths: Sequence[Path], options: TableOptions, results: Sequence[Result] | None = None
) -> tuple[str, list[Row]]:
    """Return a table of result files in one of the formats, and all rows of the first file.

    Args:
        results: Contents of the files, if they are in memory already.

    Raises:
        UsageError: A file is no result, a column or unit does not exist, or the results lack what the kind of
            table needs.
    """
    return _tabulate(paths, options, _cache(paths, options), results)


def _tabulate(
    paths: Sequence[Path], options: TableOptions, cache: TableCache, results: Sequence[Result] | None = None
) -> tuple[str, list[Row]]:
    if results is None and (joined := _joined(paths, options)):
        paths, results = [joined.path], [joined]
    request, columns = _request(paths, options)
    sources = request.sources(map(load, paths) if results is None else results)
    on_terminal = options.form == "text" and sys.stdout.isatty()
    wanted = on_terminal if options.chart is None else options.chart
    document = _table(request, sources, columns, chart=wanted)
    if options.chart and document.drawn is None:
        note("no chart: no curve of messages has three sizes or more")
    if on_terminal and options.kind == ANSWER:
        document = _fitted(document, may_drop_chart=options.chart is None)
    text = rendered(document, options.form)
    cache.keep(text)
    return text, sources[0].rows


def _joined(paths: Sequence[Path], options: TableOptions) -> Result | None:
    """Return texts of other benchmarks as one result, where a screen has no room for a column of each."""
    from mpigauge.importers.loading import load_together
    from mpigauge.show.answer import MAX_JOBS

    most = {ANSWER: MAX_JOBS, CURVES: 1}.get(options.kind)
    return load_together(paths) if most and len(paths) > most and options.form == "text" else None


def _request(paths: Sequence[Path], options: TableOptions) -> tuple[Request, tuple[str, ...]]:
    """Return the request and the columns; refuse all that is wrong before a file is read."""
    columns, chosen = check(options.unit_names, options.columns)
    _refuse(options, paths)
    request = Request(KINDS[options.kind], options.selection, options.stat, options.renames, units=chosen)
    request.check()
    return request, columns


def _table(
    request: Request, sources: list[Source], columns: tuple[str, ...], *, chart: bool = False
) -> Document:
    newest = len(sources) == 1 and is_newest(sources[0].result.path)
    return table_of(request.query_of(sources), columns, newest=newest, chart=chart)


def _fitted(document: Document, *, may_drop_chart: bool) -> Document:
    """Return an answer as the screen has room for: without its chart, or most of what comes next.

    One that is longer even then says last, too, what it says first, which is out of sight.
    """
    from mpigauge.document.document import Line

    without = replace(document, drawn=None) if may_drop_chart else document
    shortest = replace(without, steps=without.steps[:1])
    fitting = next((one for one in (document, without, shortest) if _fits(one)), None)
    finding = [Line(""), Line(document.head[0], "title")]
    return fitting or replace(without, steps=[*without.steps, *finding])


def _fits(document: Document) -> bool:
    """Return whether the screen has room for all of a document, above the name of its file and a prompt."""
    from mpigauge.show.formats import terminal

    screen = console()
    return screen is None or terminal.render(document, screen).count("\n") < screen.height - 1


def _refuse(options: TableOptions, paths: Sequence[Path]) -> None:
    """Refuse options that only other kinds of tables have.

    Raises:
        UsageError: There is such an option.
    """
    if options.kind == CURVES and len(paths) > 1:
        raise UsageError(
            f"--table {CURVES} does not take a second result", "side by side: --table times, or rates"
        )
    if options.kind == SAMPLES and options.form not in SAMPLE_FORMATS:
        raise UsageError(
            f"--table {SAMPLES} has a line for every sample, which is nothing to read",
            f"choose --format {' or '.join(SAMPLE_FORMATS)}, or -o samples.csv",
        )
    if options.chart and (options.kind != ANSWER or options.form != "text"):
        other = f"--table {options.kind}" if options.kind != ANSWER else f"--format {options.form}"
        raise UsageError(f"--chart is of the answer as text, not of {other}", "draw a figure: mpigauge plot")
    if options.columns and options.kind != CURVES:
        raise UsageError(
            f"--table {options.kind} does not take --columns",
            "leave it out, or choose another kind: mpigauge list tables",
        )


def rendered(document: Document, form: str) -> str:
    """Return a document in one of the formats; text is fitted to the terminal, if there is one."""
    if form == "text" and (screen := console()) is not None:
        from mpigauge.show.formats import terminal

        return terminal.render(document, screen)
    from mpigauge.show import formats

    return _with_notes(formats.render(document, form), form)


def _with_notes(text: str, form: str) -> str:
    """Return the text of a document; note what its format leaves out."""
    if form in FOREIGN:
        from mpigauge.show.formats import left_out

        for line in left_out(text):
            note(line)
    return text


def check(unit_names: tuple[str, ...], columns: str) -> tuple[tuple[str, ...], Units]:
    """Return the columns and units; called before a campaign, so that an error does not come after it.

    Raises:
        UsageError: A column or unit does not exist.
    """
    chosen = units_of(unit_names)

    from mpigauge.show.columns import EXTRA_COLUMNS

    names = words(columns)
    if "all" in names:
        names = tuple(EXTRA_COLUMNS)
    for name in names:
        if name not in EXTRA_COLUMNS:
            hint = choose_from([*EXTRA_COLUMNS, "all"], name, listed_by="mpigauge list columns")
            raise UsageError(f"--columns: no column is called {name!r}", hint)
    return names, chosen
