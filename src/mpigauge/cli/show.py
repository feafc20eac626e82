"""`mpigauge show`: the answer of result files, and tables of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mpigauge.cli.options import results_argument, selection_options, table_options
from mpigauge.cli.rename import rename_option
from mpigauge.cli.results import named
from mpigauge.cli.tables import Asked, shown
from mpigauge.show.pivots import CURVES, KINDS

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.vocabulary import OnlyChoice, StateChoice


@click.command("show")
@results_argument
@click.option(
    "--table",
    type=click.Choice(list(KINDS)),
    help="Kind of table: mpigauge list tables.  [default: answer, or curves with --sizes, --series, "
    "--columns or --format csv, bencher, github]",
)
@click.option("--all", "everything", is_flag=True, help="All numbers of all sizes: --table curves.")
@rename_option
@selection_options
@table_options
def command(
    results: tuple[Path, ...],
    *,
    table: str | None,
    everything: bool,
    series: tuple[str, ...],
    sizes: str,
    state: StateChoice | None,
    only: OnlyChoice | None,
    renames: tuple[str, ...],
    form: str,
    unit_names: tuple[str, ...],
    stat: str,
    columns: str,
) -> None:
    """Print the answer of RESULT files on one screen, or tables with all numbers.

    RESULT is a file, a folder (its newest file) or - (standard input); without one, the newest in results/.

    \b
    mpigauge show
    mpigauge show --all
    mpigauge show before.jsonl after.jsonl
    mpigauge show before.jsonl after.jsonl --table rates --rename "same-host=one node"
    mpigauge show results/node1.jsonl --sizes 8,1KiB --series pingpong
    mpigauge show results/node1.jsonl --format csv > table.csv
    mpigauge show results/node1.jsonl --format bencher > bencher.json
    mpigauge show results/node1.jsonl --columns mean,stddev,p99 --unit Gbit/s
    mpigauge show results/node1.jsonl --state all --only quiet
    mpigauge show results/node1.jsonl --table latency --format markdown
    """
    asked = Asked(
        CURVES if everything else table, form, unit_names, stat, columns, series, sizes, state, only, renames
    )
    click.echo(shown(named(results), asked), nl=False)
