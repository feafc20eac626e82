"""`mpigauge explain`: what follows from results, in computed sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mpigauge.ask import VERBS, Request, claims_of
from mpigauge.cli.options.common import results_argument, unit_option, units_of
from mpigauge.cli.options.outputs import output_options
from mpigauge.cli.options.selection import loaded, selection_options
from mpigauge.cli.options.shipped_option import CLAIMS_PATH
from mpigauge.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.ask import Selection
    from mpigauge.cli.options.outputs import Outputs


@click.command("explain")
@results_argument
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="All conclusions with details, not only the ten that tell most; of claims, the words of the report.",
)
@click.option(
    "--top", type=click.IntRange(1), metavar="N", help="The N conclusions of each result that tell most."
)
@click.option(
    "--claims",
    "claims",
    multiple=True,
    type=CLAIMS_PATH,
    metavar="NAME",
    help="Judge the conclusions of a report, by its name (mpigauge list claims), or of all; also a TOML file "
    "or a folder of them; repeatable.",
)
@selection_options
@unit_option
@output_options
def command(
    results: tuple[Path, ...],
    *,
    everything: bool,
    top: int | None,
    claims: tuple[Path, ...],
    selection: Selection,
    outputs: Outputs,
    unit_names: tuple[str, ...],
) -> None:
    """Say what follows from RESULT: what is faster, where, by how much, and why, as far as it was measured.

    Each line is one finding of at most 25 words with the launches that it rests on; --all shows all of them,
    with all times, differences and 95 % intervals. What intervals cannot tell is undecided. --claims holds
    what a report concludes against its own printed numbers and against all RESULTs together.

    \b
    mpigauge explain
    mpigauge explain both.jsonl --all
    mpigauge explain both.jsonl --series pingpong --format markdown
    mpigauge explain both.jsonl --claims exchange-agh-2020
    mpigauge explain both.jsonl --claims all
    """
    from mpigauge.find.explain.table import MAX_SAID, document
    from mpigauge.mpi.kinds import GIVES_WAY

    units = units_of(unit_names)
    request = Request(VERBS["explain"], selection, units=units)
    if claims:
        _refuse(top=top, series=selection.series, sizes=selection.sizes)
        outputs.put(claims_of(claims, loaded(results), request, quoted=everything))
        return
    if everything and top:
        raise UsageError("--all and --top exclude each other", "use one of them")
    most = None if everything else top or MAX_SAID
    outputs.put(document(request.selected(loaded(results)), units, most=most, gives_way=GIVES_WAY))


def _refuse(**options: object) -> None:
    """Refuse options that have no effect on claims, which name their cells themselves."""
    if refused := [f"--{name}" for name, value in options.items() if value]:
        raise UsageError(f"--claims and {refused[0]} exclude each other", "use one of them")
