"""`mpigauge show`: the answer of result files, and their tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mpigauge.ask import VERBS, Request
from mpigauge.cli.options.common import column_options, results_argument, units_of
from mpigauge.cli.options.into import check_into, folder_request, hand_in, into_option
from mpigauge.cli.options.outputs import STANDARD, OutputTarget, output_options_of_times
from mpigauge.cli.options.selection import load, rename_option, selection_options
from mpigauge.cli.screen.tables import TableOptions, documents, shown
from mpigauge.result.files import named
from mpigauge.show.pivots import CURVES, KINDS, SAMPLES

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.ask import Selection
    from mpigauge.cli.options.outputs import Outputs


@click.command("show")
@results_argument
@click.option(
    "--table",
    type=click.Choice(list(KINDS)),
    help="Kind of table: mpigauge list tables.  [default: answer, or curves with --sizes, --series, "
    "--columns or a format of all numbers, such as csv]",
)
@click.option("--all", "everything", is_flag=True, help="All numbers of all sizes: --table curves.")
@click.option(
    "--chart/--no-chart",
    default=None,
    help="Time and bandwidth over size in eight lines.  [default: where the terminal has room for all]",
)
@rename_option
@selection_options
@column_options
@into_option
@output_options_of_times
def command(
    results: tuple[Path, ...],
    *,
    table: str | None,
    everything: bool,
    chart: bool | None,
    selection: Selection,
    renames: tuple[str, ...],
    into: Path | None,
    outputs: Outputs,
    unit_names: tuple[str, ...],
    stat: str,
    columns: str,
) -> None:
    """Print the answer of RESULT files on one screen, or tables with all numbers.

    RESULT is a file, a folder (its newest file, or all texts of others) or - (standard input); without one,
    the newest in results/. Text of OSU, IMB, nccl-tests, NetPIPE, perftest and fabtests is recognised and
    read as a result.

    \b
    mpigauge show
    mpigauge show --all
    mpigauge show --chart
    mpigauge show before.jsonl after.jsonl
    mpigauge show before.jsonl after.jsonl --table rates --rename "same-host=one node"
    mpigauge show results/node1.jsonl --sizes 8,1KiB --series pingpong
    mpigauge show results/node1.jsonl -o table.csv -o table.json --overwrite
    mpigauge show results/node1.jsonl --table samples -o samples.csv --overwrite
    mpigauge show results/node1.jsonl --format bencher > bencher.json
    mpigauge show results/node1.jsonl --format osu > osu.txt
    mpigauge show osu_latency.txt --all
    mpigauge show results/node1.jsonl --columns mean,stddev,p99 --unit Gbit/s
    mpigauge show results/node1.jsonl --state all --only quiet
    mpigauge show results/node1.jsonl --table latency --format markdown
    """
    kind, form = CURVES if everything else table, outputs.targets[0].form
    options = TableOptions(kind, form, unit_names, stat, columns, selection, renames, chart)
    paths = named(results)
    if into is not None:
        others = {"--table": kind, "--chart": chart is not None, "--columns": columns}
        others |= {"-o or --format": outputs.targets != STANDARD}
        check_into(into, paths, others, overwrite=outputs.overwrite)
        request = Request(VERBS["report"], selection, stat, renames, units=units_of(unit_names))
        request.check()
        hand_in(folder_request(into, overwrite=outputs.overwrite), request, [*map(load, paths)])
        return
    if outputs.targets == (OutputTarget(options.form),) and options.kind != SAMPLES:
        click.echo(shown(paths, options), nl=False)
        return
    forms = [target.form for target in outputs.targets]
    outputs.write_each(documents(paths, options, forms))
