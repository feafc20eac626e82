"""Results in Python: load them, then ask for rows, samples, comparisons, models and conclusions."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mpigauge.api import html
from mpigauge.api.shown import Comparison, Explanation, Model, data_of
from mpigauge.api.table import Table
from mpigauge.ask import VERBS, Request, Selection, comparison_of, damage_note, table_of
from mpigauge.document.columnar import columns_of, concatenated
from mpigauge.document.context import context_record
from mpigauge.document.document import Units
from mpigauge.errors import UsageError, choose_from
from mpigauge.find.explain import table as explain_table
from mpigauge.importers import loading
from mpigauge.models import table as models_table
from mpigauge.models.modelled import models_of
from mpigauge.plan.sizes import parse_sizes, size_filter
from mpigauge.result import files, reader
from mpigauge.result.home_paths import shortened
from mpigauge.show import samples
from mpigauge.show.compared import check_alike, check_count, compare_sources, thresholds_of
from mpigauge.show.pivots import ANSWER, KINDS
from mpigauge.show.records import answer_records, flat_record, flat_sessions
from mpigauge.show.schema import kinds_of_rows
from mpigauge.show.selected import selected

if TYPE_CHECKING:
    from mpigauge.document.document import Document
    from mpigauge.plan.model import Cell
    from mpigauge.query.query import Source
    from mpigauge.vocabulary import OnlyChoice, StateChoice, Statistic

PathLike = str | os.PathLike[str]
Sizes = str | int | Iterable[int]
Words = str | Sequence[str]

LOG = logging.getLogger("mpigauge")
ALL_AT_ONCE = 1 << 62


def load(*paths: PathLike) -> Result:
    """Read one result file, or several to be queried together.

    Args:
        paths: Files, `.jsonl`, `.jsonl.gz` or the text of another benchmark, or folders, of which the newest
            result is taken; without any, the newest in `results/`, as on the command line.

    Raises:
        UsageError: A file does not exist or is no result; names it.
    """
    loaded = [loading.load(path) for path in files.named([*map(Path, paths)])]
    for damage in filter(None, map(damage_note, loaded)):
        LOG.warning("%s", damage)
    return Result(loaded)


class Result:
    """One or several result files in memory. Every number is in SI units: seconds, bytes, bytes per second.

    Methods that choose cells take:

    - `pattern`: a name or several, as `mpigauge list` has them.
    - `sizes`: as `--sizes` has them ("8,1KiB", "0:64KiB"), or numbers of bytes.
    - `series`: words of a curve's name, as `--series` has them, or several such.
    - `state`: state of the machine: near, mid, far or all; None for the usual one.
    - `only`: "quiet" leaves out visits that something else disturbed, visits on
      shared cores, and visits at another speed of the cores than the usual.
    - `stat`: the statistic that represents a launch; the median by default.

    Attributes:
        results: Contents of the files.
        stopped: Name of the signal that ended `mpigauge.run` early, where the caller's own handler let the
            program go on: the result is then incomplete. None otherwise.
    """

    def __init__(self, results: Sequence[reader.Result], stopped: str | None = None) -> None:
        self.results = tuple(results)
        self.stopped = stopped
        self._known: dict[tuple[Any, ...], list[Source]] = {}

    @property
    def paths(self) -> tuple[Path, ...]:
        """Paths of the result files."""
        return tuple(result.path for result in self.results)

    @property
    def context(self) -> dict[str, Any]:
        """Where, when and with what the first file was measured: docs/result-file.md."""
        return context_record(self.results[0])

    @property
    def contexts(self) -> list[dict[str, Any]]:
        """Contexts of all files."""
        return [*map(context_record, self.results)]

    @property
    def summary(self) -> Table:
        """The few numbers that sum up the result, each with its interval, as `mpigauge show` prints them."""
        records = (
            {"file": shortened(str(source.result.path)), **record, **flat_sessions(record.pop("sessions"))}
            for source in self._sources(Request(VERBS["rows"]))
            for record in answer_records(source.result, source.rows)
        )
        return self._table(columns_of(records))

    def rows(
        self,
        *,
        pattern: Words | None = None,
        sizes: Sizes = "",
        series: Words = (),
        state: StateChoice | None = None,
        only: OnlyChoice | None = None,
        stat: Statistic = "median",
    ) -> Table:
        """Return a row per cell: `rows` of `mpigauge show --format json`, flattened as in CSV.

        Raises:
            UsageError: The result has no such pattern, size, series or state.
        """
        sources = self._chosen(_request("rows", sizes, series, state, only, stat), pattern)
        records = (
            {**flat_record(row), "file": shortened(str(source.result.path))}
            for source in sources
            for row in source.rows
        )
        kinds = kinds_of_rows()
        return self._table(
            columns_of(records, kinds, names=() if any(source.rows for source in sources) else [*kinds]), stat
        )

    def samples(
        self,
        *,
        pattern: Words | None = None,
        sizes: Sizes = "",
        series: Words = (),
        state: StateChoice | None = None,
        only: OnlyChoice | None = None,
    ) -> Table:
        """Return a row per sample: launch, visit, number, begin of its visit, time, and cell.

        No sample is left out: `in_estimate` is false for those that no estimate counts.

        Raises:
            UsageError: The result has no such pattern, size, series or state.
        """
        request = _request("rows", sizes, series, state, only)
        if series:
            choices = request.samples_of(self._chosen(replace(request, each_state=True), pattern))
        else:
            choices = request.samples(self.results, self._keeps(pattern, sizes))
        return self._table(concatenated([*samples.pieces(choices, most=ALL_AT_ONCE)]), None)

    def compare(
        self,
        other: Result | PathLike | None = None,
        *,
        by: str | None = None,
        margin: str = "3%",
        allow: str = "10%",
        strict: bool = False,
        force: bool = False,
        sizes: Sizes = "",
        series: Words = (),
        state: StateChoice | None = None,
        only: OnlyChoice | None = None,
        stat: Statistic = "median",
    ) -> Comparison:
        """Return whether another result is slower; without one, compare what was measured in turn.

        The options are those of `mpigauge compare`.

        Raises:
            UsageError: There is nothing to compare, or the results are of different machines or versions.
        """
        others = () if other is None else (other if isinstance(other, Result) else load(other)).results
        results = (*self.results, *others)
        check_count(len(results), by)
        request = _request("compare", sizes, series, state, only, stat)
        request = replace(request, by=by, thresholds=thresholds_of(margin, allow))
        query = request.query(results)
        if not force:
            check_alike(query.sources)
        document, _ = comparison_of(compare_sources(query, verdict_asked=strict), strict=strict)
        return Comparison(replace(document, contexts=[*map(context_record, results)]))

    def model(
        self,
        predict: Sizes = (),
        *,
        sizes: Sizes = "",
        series: Words = (),
        state: StateChoice | None = None,
        only: OnlyChoice | None = None,
        stat: Statistic = "median",
    ) -> Model:
        """Return latency and bandwidth of curves, their breaks, and predicted times of other sizes.

        Args:
            predict: Sizes to predict.

        Raises:
            UsageError: No curve of messages has enough sizes.
        """
        predicted = parse_sizes(text) if (text := _sizes(predict)) else ()
        request = _request("model", sizes, series, state, only, stat)
        query = request.query_of(self._sources(request))
        return Model(self._traced(models_table.document(models_of(query, predicted), query.units)))

    def explain(
        self,
        *,
        sizes: Sizes = "",
        series: Words = (),
        state: StateChoice | None = None,
        only: OnlyChoice | None = None,
    ) -> Explanation:
        """Return what follows from the result, as sentences with their numbers."""
        from mpigauge.mpi.kinds import GIVES_WAY  # noqa: PLC0415 - for this alone

        chosen = self._chosen(_request("explain", sizes, series, state, only))
        return Explanation(
            self._traced(explain_table.document(chosen, Units(), most=None, gives_way=GIVES_WAY))
        )

    def as_dict(self) -> dict[str, Any]:
        """Return all that `mpigauge show --format json` prints."""
        return data_of(self._answer())

    def __repr__(self) -> str:
        return f"<mpigauge.Result: {', '.join(map(str, self.paths))}>"

    def _repr_html_(self) -> str:
        """Return the answer as `mpigauge show` prints it, without the suggested next commands."""
        return html.document(replace(self._answer(), foot=()))

    # ---- Of the whole ----

    def _answer(self) -> Document:
        request = Request(KINDS[ANSWER])
        return table_of(request.query_of(self._sources(request)))

    def _sources(self, request: Request) -> list[Source]:
        """Return the rows of all cells, computed once per statistic, state and choice of visits."""
        key = (request.stat, request.state, request.selection.only)
        if key not in self._known:
            self._known[key] = request.sources(self.results)
        return self._known[key]

    def _chosen(self, request: Request, pattern: Words | None = None) -> list[Source]:
        sources = self._sources(request)
        if pattern is not None:
            keep = self._keeps(pattern, "")
            sources = [
                replace(source, rows=[row for row in source.rows if keep(row.cell)]) for source in sources
            ]
        return selected(request.query_of(sources))

    def _keeps(self, pattern: Words | None, sizes: Sizes) -> Callable[[Cell], bool]:
        """Return a predicate that selects cells of these patterns and sizes."""
        measured = dict.fromkeys(
            pattern_.name for result in self.results for pattern_ in result.campaign.patterns
        )
        names = frozenset(measured if pattern is None else _words(pattern))
        for name in names - measured.keys():
            files = ", ".join(map(str, self.paths))
            raise UsageError(f"{files}: no pattern {name!r} was measured", choose_from(measured, name))
        chosen = size_filter(_sizes(sizes))
        return lambda cell: cell.pattern in names and chosen(cell.bytes)

    def _table(self, columns: Any, stat: str | None = "median") -> Table:
        return Table(columns, [context_record(result, stat) for result in self.results])

    def _traced(self, document: Document) -> Document:
        return replace(document, contexts=self.contexts)


def _request(
    verb: str,
    sizes: Sizes,
    series: Words,
    state: StateChoice | None,
    only: OnlyChoice | None,
    stat: Statistic = "median",
) -> Request:
    """Return the request that the verb of this name makes of these options.

    Raises:
        UsageError: There are no such sizes.
    """
    request = Request(VERBS[verb], Selection(_words(series), _sizes(sizes), state, only), stat)
    request.check()
    return request


def _sizes(sizes: Sizes) -> str:
    """Return sizes as the command line writes them."""
    if isinstance(sizes, str):
        return sizes
    return str(sizes) if isinstance(sizes, int) else ",".join(map(str, sizes))


def _words(words: Words) -> tuple[str, ...]:
    return (words,) if isinstance(words, str) else tuple(words)
