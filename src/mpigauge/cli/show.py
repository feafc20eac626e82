"""`mpigauge show`: tables of result files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mpigauge.cli.options import chosen_units, results_argument, selection_options, table_options
from mpigauge.cli.tables import rendered, tabulate
from mpigauge.errors import UsageError
from mpigauge.show.pivots import CURVES, KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@click.command("show")
@results_argument
@click.option(
    "--table",
    type=click.Choice(list(KINDS)),
    default=CURVES,
    show_default=True,
    help="Kind of table: mpigauge list tables.",
)
@selection_options
@table_options
def command(
    results: tuple[Path, ...],
    *,
    table: str,
    series: tuple[str, ...],
    sizes: str,
    form: str,
    unit_names: tuple[str, ...],
    stat: str,
    columns: str,
) -> None:
    """Print tables of RESULT files.

    \b
    mpigauge show results/node1.jsonl
    mpigauge show results/node1.jsonl --format csv > table.csv
    mpigauge show results/node1.jsonl --columns mean,stddev,p99 --unit Gbit/s
    mpigauge show results/node1.jsonl --table latency --format markdown
    mpigauge show printed.jsonl results/node1.jsonl --table times --series pingpong
    """
    if table == CURVES:
        _refuse("curves", {"a second result": len(results) > 1, "--series": series, "--sizes": sizes})
        text, _ = tabulate(results[0], form, unit_names, stat, columns)
    else:
        _refuse(table, {"--columns": columns})
        text = laid_out(results, table, form, unit_names, stat, series, sizes)
    click.echo(text, nl=False)


def _refuse(table: str, given: dict[str, object]) -> None:
    """Options of other kinds of tables.

    Raises:
        UsageError: One of them was given.
    """
    for name, value in given.items():
        if value:
            hint = "leave it out, or choose another kind: mpigauge list tables"
            raise UsageError(f"--table {table} does not take {name}", hint)


def laid_out(
    paths: Sequence[Path],
    table: str,
    form: str,
    unit_names: tuple[str, ...],
    stat: str,
    series: tuple[str, ...],
    sizes: str,
) -> str:
    """A table of a kind other than curves.

    Raises:
        UsageError: A file is not a result, a unit does not exist, or the results lack what the kind needs.
    """
    time, rate = chosen_units(unit_names)

    from mpigauge.result.reader import load
    from mpigauge.show import pivots
    from mpigauge.show.document import Units
    from mpigauge.show.query import Query, source_of, wanted

    wanted(sizes)
    sources = [source_of(load(path), stat) for path in paths]
    query = Query(KINDS[table], sources, False, Units(time, rate), stat, series, sizes)
    return rendered(pivots.document(query), form)
