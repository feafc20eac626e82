"""`mpigauge compare`: whether one of two is slower, and how sure that is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mpigauge.cli.comparisons import ended
from mpigauge.cli.histories import Chosen, against
from mpigauge.cli.options import (
    comparison_options,
    format_option,
    results_argument,
    selection_options,
    stat_option,
    unit_option,
)
from mpigauge.cli.results import named
from mpigauge.errors import UsageError
from mpigauge.show.registry import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.vocabulary import OnlyChoice, StateChoice

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
@comparison_options
@click.option(
    "--strict",
    is_flag=True,
    help="Pass only if every number is decided: slower, faster or within the margin.",
)
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
    from mpigauge.cli.tables import check
    from mpigauge.result.reader import load
    from mpigauge.show.compared import check_alike, check_count, held, thresholds_of
    from mpigauge.show.query import Query, sources_of

    thresholds = thresholds_of(margin, allow)
    _, units = check(unit_names, "")
    paths = named(results)
    check_count(len(paths), by)
    if baseline is not None:
        chosen = Chosen(KIND, stat, state, only, series, sizes)
        found = against(_one(paths, by), baseline, chosen, thresholds, force=force)
        return ended(found, units, form, strict=strict, everything=everything)
    sources = sources_of(map(load, paths), stat, state or "all", only)
    if not force:
        check_alike(sources)
    found = held(Query(KIND, sources, False, units, stat, series, sizes, by, thresholds))
    return ended(found, units, form, strict=strict, everything=everything)


def _one(paths: Sequence[Path], by: str | None) -> Path:
    if len(paths) > 1 or by is not None:
        raise UsageError(
            "--baseline holds one result against sessions", f"leave out {'--by' if by else 'the second one'}"
        )
    return paths[0]
