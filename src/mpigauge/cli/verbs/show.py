"""`mpigauge show`: the answer of result files, and their tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mpigauge.ask import VERBS, Request, Selection
from mpigauge.cli.options.common import column_options, results_argument, units_of
from mpigauge.cli.options.into import check_into, folder_request, hand_in, into_option
from mpigauge.cli.options.outputs import STANDARD, OutputTarget, output_options_of_times_and_result
from mpigauge.cli.options.selection import load, rename_option, selection_options
from mpigauge.cli.screen.streams import note
from mpigauge.cli.screen.tables import TableOptions, documents, shown
from mpigauge.errors import UsageError
from mpigauge.result.files import named
from mpigauge.show.pivots import CURVES, KINDS, SAMPLES
from mpigauge.vocabulary import WITHOUT_CHOICES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mpigauge.cli.options.outputs import Outputs
    from mpigauge.vocabulary import WithoutChoice


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
@click.option(
    "--without",
    type=click.Choice(WITHOUT_CHOICES),
    help="Write a copy of the result that can be posted, to -o FILE.jsonl: names of hosts, users, folders "
    "and jobs, addresses and values of variables are replaced in it.",
)
@rename_option
@selection_options
@column_options
@into_option
@output_options_of_times_and_result
def command(
    results: tuple[Path, ...],
    *,
    table: str | None,
    everything: bool,
    chart: bool | None,
    without: WithoutChoice | None,
    selection: Selection,
    renames: tuple[str, ...],
    into: Path | None,
    output: Path | None,
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
    mpigauge show results/node1.jsonl --without names -o shared.jsonl
    """
    kind, form = CURVES if everything else table, outputs.targets[0].form
    options = TableOptions(kind, form, unit_names, stat, columns, selection, renames, chart)
    paths = named(results)
    if without is not None or output is not None:
        others = {
            "--table": kind,
            "--chart": chart is not None,
            "--rename": renames,
            "--series, --sizes, --state and --only": selection != Selection(),
            "--columns and --unit": columns or unit_names,
            "--into": into,
            "tables with -o or --format": outputs.targets != STANDARD,
        }
        _copy(paths, without, output, [name for name, given in others.items() if given])
        return
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


def _copy(
    paths: Sequence[Path], without: WithoutChoice | None, output: Path | None, others: Sequence[str]
) -> None:
    """Write a copy of a result without its names.

    Args:
        others: Options that are about tables.

    Raises:
        UsageError: One of the options is missing, or not for a copy; or there are several results.
    """
    from mpigauge.result.reader import NotAResultError, records_of
    from mpigauge.result.without_names import without_names
    from mpigauge.result.writer import check_free, write_whole

    if without is None:
        raise UsageError(
            f"-o {output}: show writes a result only as a copy without names",
            "add --without names; or for numbers, end it in .csv or .json",
        )
    if output is None:
        raise UsageError(f"--without {without} writes a result, and needs its name", "-o shared.jsonl")
    if others:
        raise UsageError(
            f"--without copies the whole result, and {others[0]} is for tables",
            "leave it out; then show the copy",
        )
    if len(paths) > 1:
        raise UsageError("--without copies one result", "call it once for each")
    check_free(output)
    try:
        records = [*records_of(paths[0])]
    except NotAResultError as error:
        raise UsageError(str(error), "of another benchmark's text, make one: mpigauge import") from None
    write_whole(output, without_names(records))
    note(f"result: {output}: without names of hosts, users, folders and jobs, addresses, values of variables")
    note(
        "still in it: title, days, processor, system, versions and options of libraries, names of variables; "
        "look through it before you post it"
    )
