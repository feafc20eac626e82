"""`mpigauge model`: segments, breaks and parameters of curves, and what they predict."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mpigauge.ask import VERBS, Request
from mpigauge.cli.options.common import results_argument, stat_option, unit_option, units_of
from mpigauge.cli.options.outputs import output_options
from mpigauge.cli.options.selection import loaded, selection_options
from mpigauge.errors import EXIT_DONE, EXIT_UNDECIDED

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.ask import Selection
    from mpigauge.cli.options.outputs import Outputs
    from mpigauge.models.modelled import Models


@click.command("model")
@results_argument
@click.option(
    "--predict",
    multiple=True,
    metavar="SIZES",
    help="Times of these sizes: 3KiB,100MiB; extrapolated beyond those that were measured. May be repeated.",
)
@selection_options
@unit_option
@stat_option
@output_options
def command(
    results: tuple[Path, ...],
    *,
    predict: tuple[str, ...],
    selection: Selection,
    outputs: Outputs,
    unit_names: tuple[str, ...],
    stat: str,
) -> int:
    """Describe times over sizes by lines: where they break, latency and bandwidth of each, how sure that is.

    Eager limits that were probed are breaks; others are found where they are worth their parameters. Beside
    it: the latency and bandwidth of a single line, as textbooks ask for, and what is wrong about them.
    Without RESULT, of the newest in results/. The exit status is 5 if a size of --predict has no time.

    \b
    mpigauge model results/node1.jsonl
    mpigauge model results/node1.jsonl --series pingpong
    mpigauge model results/node1.jsonl --predict 3KiB,100MiB
    mpigauge model results/node1.jsonl --format json
    """
    from mpigauge.models.modelled import models_of
    from mpigauge.models.table import document
    from mpigauge.plan.sizes import parse_sizes

    request = Request(VERBS["model"], selection, stat, units=units_of(unit_names))
    request.check()
    sizes = parse_sizes(",".join(predict)) if any(predict) else ()
    query = request.query(loaded(results))
    shown = models_of(query, sizes)
    outputs.put(document(shown, query.units))
    return _status(shown)


def _status(shown: Models) -> int:
    """Return the exit status: whether all sizes of --predict have a time."""
    times = [prediction.launch for model in shown.found for prediction in model.predictions]
    return EXIT_UNDECIDED if None in times else EXIT_DONE
