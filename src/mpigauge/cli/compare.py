"""`mpigauge compare`: whether one of two is slower, and how sure that is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mpigauge.cli.histories import Chosen
from mpigauge.cli.options import format_option, results_argument, selection_options, stat_option, unit_option
from mpigauge.cli.results import named
from mpigauge.cli.thresholds import threshold_options, thresholds_of
from mpigauge.errors import EXIT_CHECK_FAILED, EXIT_DONE, EXIT_UNDECIDED, UsageError
from mpigauge.show.registry import Kind
from mpigauge.vocabulary import PASSES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.analysis.compare.comparison import Comparison
    from mpigauge.analysis.compare.decision import Thresholds
    from mpigauge.analysis.compare.sides import Pair
    from mpigauge.show.document import Units
    from mpigauge.show.query import Source
    from mpigauge.vocabulary import ComparisonVerdict, OnlyChoice, StateChoice

MOST = 2
BY = ("mpi", "label", "setting", "transport", "placement", "mode", "buffers", "sync", "ranks", "window")
"""Factors that can be compared within one result; if none is named, the first that has several values."""

STATUSES: dict[ComparisonVerdict, int] = {"slower": EXIT_CHECK_FAILED, **dict.fromkeys(PASSES, EXIT_DONE)}
"""Of all other verdicts it is EXIT_UNDECIDED."""


KIND = Kind(
    "compare", "whether one of two is slower", "cells of two that are alike", "", "comparison", "patterns"
)


@click.command("compare")
@results_argument
@click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Hold RESULT against what the sessions in a folder let expect: three at least.",
)
@click.option(
    "--by", type=click.Choice(BY), help="Compare within one RESULT.  [default: the first with several values]"
)
@threshold_options
@click.option(
    "--strict",
    is_flag=True,
    help="Pass only if every number is decided: slower, faster or within the margin.",
)
@click.option("--force", is_flag=True, help="Compare results of different machines or versions all the same.")
@click.option("--all", "everything", is_flag=True, help="A line for every number.")
@selection_options
@unit_option
@stat_option
@format_option()
def command(
    results: tuple[Path, ...],
    *,
    baseline: Path | None,
    by: str | None,
    margin: str,
    allow: str,
    strict: bool,
    force: bool,
    everything: bool,
    series: tuple[str, ...],
    sizes: str,
    state: StateChoice | None,
    only: OnlyChoice | None,
    form: str,
    unit_names: tuple[str, ...],
    stat: str,
) -> int:
    """Say whether one of two is slower: libraries or modes of one RESULT, or a second RESULT against a first.

    Launches that were made in turn give verdicts; two results of different times never give "slower", since
    the machine may have moved. --baseline asks how far apart times are: a folder of results that were made
    as RESULT was, at other times. The exit status is 1 if something is slower or lost, 0 if nothing is slower
    by more than --allow, and 5 if that cannot be decided.

    \b
    mpigauge compare both.jsonl --by mpi
    mpigauge compare both.jsonl --by mpi --sizes 8:64KiB --all
    mpigauge compare before.jsonl after.jsonl --format markdown
    mpigauge compare after.jsonl --baseline results
    mpigauge compare both.jsonl --margin 1% --allow 5% --strict
    """
    from mpigauge.analysis.compare.comparison import compare
    from mpigauge.cli.tables import check
    from mpigauge.result.reader import load
    from mpigauge.show.query import Query, sources_of
    from mpigauge.show.tables.selected import selected

    thresholds = thresholds_of(margin, allow)
    _, units = check(unit_names, "")
    paths = _paths(named(results), by)
    if baseline is not None:
        chosen = Chosen(KIND, stat, state, only, series, sizes)
        shown, sides = _against(_one(paths, by), baseline, chosen, thresholds, force=force)
        return _end(shown, units, form, sides=sides, strict=strict, everything=everything)
    sources = sources_of(map(load, paths), stat, state or "all", only)
    _check_alike(sources, force=force)
    query = Query(KIND, sources, False, units, stat, series, sizes)
    pairs, compared, sides = _pairs(list(map(_without_probes, selected(query))), by)
    shown = compare(pairs, thresholds)
    return _end(shown, units, form, compared, sides=sides, strict=strict, everything=everything)


def _end(
    shown: Comparison,
    units: Units,
    form: str,
    compared: frozenset[str] = frozenset(),
    *,
    sides: str,
    strict: bool,
    everything: bool,
) -> int:
    """Prints it; the exit status."""
    from mpigauge.cli.tables import rendered
    from mpigauge.show.tables.compare import document

    verdict = shown.strictly() if strict else shown.verdict
    text = rendered(document(shown, verdict, compared, units, sides, everything=everything), form)
    click.echo(text, nl=False)
    return STATUSES.get(verdict, EXIT_UNDECIDED)


def _paths(paths: Sequence[Path], by: str | None) -> Sequence[Path]:
    if len(paths) > MOST:
        raise UsageError(f"{len(paths)} results: two can be compared", "name the base first: compare A B")
    if by is not None and len(paths) > 1:
        raise UsageError("--by compares within one result, and two are named", "leave one of them out")
    return paths


def _pairs(sources: Sequence[Source], by: str | None) -> tuple[list[Pair], frozenset[str], str]:
    """What is held against what, the factors that are compared, and both sides in words."""
    from mpigauge.analysis.compare.sides import compared_by, differing, pairs_between, pairs_by
    from mpigauge.show.words.compare import sides_of

    if len(sources) > 1:
        base, other = sources
        pairs = pairs_between(base.rows, other.rows)
        compared = differing(base.rows, other.rows)
        if not pairs:
            raise UsageError(
                f"{other.result.path} has no cell that {base.result.path} has, too",
                "measure both with one plan: mpigauge run --plan FILE",
            )
        return pairs, compared, f"{other.name} against {base.name}"
    (source,) = sources
    for factor in (by,) if by else BY:
        if pairs := pairs_by(source.rows, factor):
            return pairs, compared_by(factor), sides_of(pairs, compared_by(factor))
    raise UsageError(
        f"{source.result.path}: nothing can be compared: "
        + (f"nothing differs in {by}" if by else "it has one of everything"),
        "measure two in turn: mpigauge run --mpi A --mpi B; or name two results",
    )


def _one(paths: Sequence[Path], by: str | None) -> Path:
    if len(paths) > 1 or by is not None:
        raise UsageError(
            "--baseline holds one result against sessions", f"leave out {'--by' if by else 'the second one'}"
        )
    return paths[0]


def _against(
    path: Path, baseline: Path, chosen: Chosen, thresholds: Thresholds, *, force: bool
) -> tuple[Comparison, str]:
    """A result against the sessions of a folder, and both in words.

    Raises:
        UsageError: None of them is of the result's machine.
    """
    from mpigauge.analysis.history.baseline import against
    from mpigauge.analysis.history.session import same_session
    from mpigauge.cli.histories import session_in, sessions_in
    from mpigauge.show.words.sessions import baseline_words

    new = session_in(path, chosen)
    found = sessions_in([baseline], chosen, None if force else new)
    known = [*found.known, *(one for one, _ in found.left_out if force)]
    before = [one for one in known if not same_session(one, new)]
    for one, differs in found.left_out if not force else []:
        click.echo(f"skipped: {one.path}: {'; '.join(differs)}", err=True)
    if not before and found.left_out:
        raise UsageError(
            f"{path} cannot be held against {baseline}: {'; '.join(found.left_out[0][1])}",
            "--force compares them all the same",
        )
    said = against(sorted(before, key=lambda one: one.begun_s), new, thresholds)
    return said.shown, baseline_words(path.name, str(baseline), len(before), said.switches)


def _without_probes(source: Source) -> Source:
    """Rows that have a time, or should."""
    from dataclasses import replace

    probes = {name for name, pattern in source.patterns.items() if pattern.probes}
    return replace(source, rows=[row for row in source.rows if row.cell.pattern not in probes])


def _check_alike(sources: Sequence[Source], *, force: bool) -> None:
    """Two results must be of one machine and one mpigauge, or it is these that are compared."""
    if len(sources) < MOST or force:
        return
    from mpigauge.analysis.compare.alike import differences

    if differs := differences(*(source.result for source in sources)):
        raise UsageError(
            f"{sources[0].result.path} and {sources[1].result.path} cannot be compared: {'; '.join(differs)}",
            "--force compares them all the same",
        )
