"""`mpigauge report`: all that is shown of results as one page, to hand over."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mpigauge import atomic_file
from mpigauge.ask import VERBS, Request
from mpigauge.cli.options.common import (
    comparison_options,
    results_argument,
    stat_option,
    unit_option,
    units_of,
)
from mpigauge.cli.options.option_groups import Chapters
from mpigauge.cli.options.selection import load, rename_option, selection_options
from mpigauge.cli.screen.streams import note
from mpigauge.errors import UsageError
from mpigauge.inputs import check_output
from mpigauge.result.files import named, stem_of

if TYPE_CHECKING:
    from mpigauge.ask import Selection

FORMS = (".html", ".htm")


@click.command("report", cls=Chapters, chapters={"by": "Of the comparison"})
@results_argument
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Page to write (.html).  [default: RESULT-report.html, here]",
)
@click.option("--overwrite", is_flag=True, help="Replace the page if it exists.")
@unit_option
@stat_option
@rename_option
@selection_options
@comparison_options
def command(
    results: tuple[Path, ...],
    *,
    output: Path | None,
    overwrite: bool,
    unit_names: tuple[str, ...],
    stat: str,
    selection: Selection,
    renames: tuple[str, ...],
    by: str | None,
    margin: str,
    allow: str,
    force: bool,
) -> None:
    """Write all that follows from RESULT files as one page: answer, provenance, charts, tables and doubts.

    The page is one file that works offline and loads nothing. Without RESULT, it is of the newest in
    results/. Two results are compared, and so are two libraries or modes of one.

    \b
    mpigauge report
    mpigauge report results/node1.jsonl -o node1.html
    mpigauge report before.jsonl after.jsonl -o both.html
    mpigauge report both.jsonl --by mpi --series pingpong -o pingpong.html
    """
    paths = named(results)
    output = output or Path(f"{stem_of(paths[0])}-report.html")
    if output.suffix.lower() not in FORMS:
        raise UsageError(f"-o: {output} is not the name of a page", f"end it in {', '.join(FORMS)}")
    check_output(output)
    atomic_file.check_free(output, overwrite=overwrite)  # before results are read, which may take a while
    from mpigauge.mpi.kinds import GIVES_WAY
    from mpigauge.show.compared import check_by, thresholds_of
    from mpigauge.show.report.build import page_of
    from mpigauge.show.report.render import render

    units, thresholds = units_of(unit_names), thresholds_of(margin, allow)
    check_by(len(paths), by)
    request = Request(VERBS["report"], selection, stat, renames, by=by, thresholds=thresholds, units=units)
    request.check()
    query = request.query([*map(load, paths)])
    page = render(page_of(query, request.all_states(query), GIVES_WAY, force=force))
    with atomic_file.open_output(output, overwrite=overwrite) as file:
        file.write(page.encode())
    note(f"report: {output}")
