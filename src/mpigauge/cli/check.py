"""`mpigauge check`: whether a result keeps what is expected of it; an exit status for CI."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mpigauge.cli.options import format_option, results_argument, selection_options, unit_option
from mpigauge.cli.results import named
from mpigauge.errors import EXIT_CHECK_FAILED, EXIT_DONE, EXIT_UNDECIDED, UsageError
from mpigauge.show.registry import Kind
from mpigauge.vocabulary import PASSES

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.vocabulary import ComparisonVerdict, OnlyChoice, StateChoice

STATUSES: dict[ComparisonVerdict, int] = {"slower": EXIT_CHECK_FAILED, **dict.fromkeys(PASSES, EXIT_DONE)}
"""Of all other verdicts it is EXIT_UNDECIDED."""

KIND = Kind("check", "whether a result keeps guidelines", "what could replace it", "", "check", "patterns")


@click.command("check")
@results_argument
@click.option("--guidelines", is_flag=True, help="Nothing is slower than what could replace it.")
@click.option("--all", "everything", is_flag=True, help="A line for every guideline.")
@selection_options
@unit_option
@format_option()
def command(
    results: tuple[Path, ...],
    *,
    guidelines: bool,
    everything: bool,
    series: tuple[str, ...],
    sizes: str,
    state: StateChoice | None,
    only: OnlyChoice | None,
    form: str,
    unit_names: tuple[str, ...],
) -> int:
    """Say whether a result keeps what is expected of it.

    Guidelines: no operation is slower than others that give the same, than itself with more bytes, or than
    several calls with a part of the bytes each. The exit status is 1 if one is violated, 0 if none is by
    10 %, and 5 if that cannot be decided.

    \b
    mpigauge run --suite guidelines -o guidelines.jsonl
    mpigauge check guidelines.jsonl --guidelines
    mpigauge check guidelines.jsonl --guidelines --all --format csv
    """
    from mpigauge.analysis.compare.guidelines import check
    from mpigauge.cli.tables import check as checked_units
    from mpigauge.cli.tables import rendered
    from mpigauge.result.reader import load
    from mpigauge.show.query import Query, sources_of
    from mpigauge.show.tables.guidelines import document
    from mpigauge.show.tables.selected import selected

    paths = named(results)
    if not guidelines:
        raise UsageError("nothing to check", "say what is expected: --guidelines")
    if len(paths) > 1:
        raise UsageError(f"{len(paths)} results: one can be checked", "check each of them")
    _, units = checked_units(unit_names, "")
    sources = sources_of(map(load, paths), "median", state or "all", only)
    (source,) = selected(Query(KIND, sources, False, units, "median", series, sizes))
    shown = check(source.rows, source.patterns)
    click.echo(rendered(document(shown, source.patterns, units, everything=everything), form), nl=False)
    return STATUSES.get(shown.verdict, EXIT_UNDECIDED)
