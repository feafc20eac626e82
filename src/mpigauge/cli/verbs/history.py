"""`mpigauge history`: one plan over time, and what changed when."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mpigauge.ask import VERBS, Request, sessions_in
from mpigauge.cli.options import completers
from mpigauge.cli.options.common import stat_option, threshold_options, unit_option, units_of
from mpigauge.cli.options.outputs import output_options
from mpigauge.cli.options.selection import load, selection_options
from mpigauge.cli.screen.comparison import status_of_verdict
from mpigauge.cli.screen.streams import note

if TYPE_CHECKING:
    from datetime import datetime

    from mpigauge.ask import Selection
    from mpigauge.cli.options.outputs import Outputs

DATES = ("%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M")


@click.command("history")
@click.argument(
    "paths",
    nargs=-1,
    type=click.Path(path_type=Path),
    metavar="[PATH...]",
    shell_complete=completers.results,
)
@click.option(
    "--since",
    type=click.DateTime(DATES),
    metavar="DATE",
    help="Sessions from then on, UTC: 2026-11-03, or 2026-11-03T14:30.",
)
@threshold_options
@click.option("--all", "everything", is_flag=True, help="A line for every curve, controls included.")
@selection_options
@unit_option
@stat_option
@output_options
def command(
    paths: tuple[Path, ...],
    *,
    since: datetime | None,
    margin: str,
    allow: str,
    everything: bool,
    selection: Selection,
    outputs: Outputs,
    unit_names: tuple[str, ...],
    stat: str,
) -> int:
    """Say what changed over time in results of one plan: since when, by how much, and what changed with it.

    Of a folder all results are taken; without PATH, of results/. Each is a session. What cannot be read is
    named and left out, and so are results of other machines than that of the last one. Changes for good
    take eight sessions, what came and went again nine; from four on the last one is held against those
    before.

    The exit status is 1 if something has become slower and not faster since, 0 if not, and 5 if the machine
    changed or too little is known.

    \b
    mpigauge history results
    mpigauge history results --series pingpong --margin 5%
    mpigauge history results --since 2026-11-03
    mpigauge history results before.jsonl after.jsonl --format json
    """
    from mpigauge.compare.history.history import history_of
    from mpigauge.compare.history.table import document
    from mpigauge.show.compared import thresholds_of

    thresholds = thresholds_of(margin, allow)
    units = units_of(unit_names)
    sessions = sessions_in(paths, Request(VERBS["history"], selection, stat), load, note)
    if since is not None:
        sessions = sessions.since(since)
    shown = history_of(sessions.known, thresholds)
    outputs.put(document(shown, units, sessions.left_out, everything=everything))
    return status_of_verdict(shown.verdict)
