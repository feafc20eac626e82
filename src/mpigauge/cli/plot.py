"""`mpigauge plot`: figures of one or several result files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mpigauge.cli.options import chosen_units, results_argument, selection_options, stat_option, unit_option
from mpigauge.cli.results import named
from mpigauge.errors import UsageError
from mpigauge.show.figures import FORMS, KINDS

if TYPE_CHECKING:
    from mpigauge.vocabulary import OnlyChoice, StateChoice


@click.command("plot")
@results_argument
@click.option(
    "--kind",
    type=click.Choice(list(KINDS)),
    default="overview",
    show_default=True,
    help="Kind of figure: mpigauge list plots.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Figure to write (.png, .svg, .pdf).  [default: RESULT-KIND.png, here]",
)
@click.option("--linear", is_flag=True, help="Linear axes.")
@unit_option
@stat_option
@selection_options
def command(
    results: tuple[Path, ...],
    *,
    kind: str,
    output: Path | None,
    linear: bool,
    unit_names: tuple[str, ...],
    stat: str,
    series: tuple[str, ...],
    sizes: str,
    state: StateChoice | None,
    only: OnlyChoice | None,
) -> None:
    """Draw a figure of RESULT files, ready for a paper.

    Without RESULT, of the newest in results/.

    \b
    mpigauge plot
    mpigauge plot results/node1.jsonl -o time.png
    mpigauge plot results/node1.jsonl --kind rate --linear --sizes 0:2000 -o small.pdf
    mpigauge plot before.jsonl after.jsonl --kind ratio --series pingpong -o ratio.svg
    """
    paths = named(results)
    output = output or default_name(paths[0], kind)
    if output.suffix.lower() not in FORMS:
        raise UsageError(f"-o: {output} is not the name of a figure", f"end it in {', '.join(FORMS)}")
    time, rate = chosen_units(unit_names)

    from mpigauge.result.reader import load
    from mpigauge.show.document import Units
    from mpigauge.show.figures import draw
    from mpigauge.show.query import Query, source_of, wanted

    wanted(sizes)
    sources = [source_of(load(path), stat, state, only) for path in paths]
    query = Query(KINDS[kind], sources, linear, Units(time, rate), stat, series, sizes)
    draw(query, output)
    click.echo(f"figure: {output}", err=True)


def default_name(result: Path, kind: str) -> Path:
    """What a figure is called that nobody names: by its result and kind, where we are."""
    stem = result.name.removesuffix(".gz").removesuffix(".jsonl")
    return Path(f"{stem}-{kind}.png")
