"""`mpigauge report`: all that is shown of results as one page, to hand over."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mpigauge import atomic_file
from mpigauge.cli.options.common import comparison_options, results_argument, stat_option, unit_option
from mpigauge.cli.options.option_groups import Chapters
from mpigauge.cli.options.rename import rename_option
from mpigauge.cli.options.results import named
from mpigauge.cli.options.selection import Selection, selection_options
from mpigauge.cli.screen.streams import note
from mpigauge.errors import UsageError
from mpigauge.inputs import check_output
from mpigauge.query.kinds import DisplayKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.query.query import Query

KIND = DisplayKind(
    "report", "all that is shown of results", "cells that were measured", "", "report", "patterns"
)
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
    output = output or default_name(paths[0])
    if output.suffix.lower() not in FORMS:
        raise UsageError(f"-o: {output} is not the name of a page", f"end it in {', '.join(FORMS)}")
    check_output(output)
    atomic_file.check_free(output, overwrite=overwrite)  # before what may take a while
    query, each = _queries(paths, unit_names, stat, selection, renames, by=by, held=(margin, allow))

    from mpigauge.mpi.kinds import GIVES_WAY
    from mpigauge.show.report.build import page_of
    from mpigauge.show.report.render import render

    page = render(page_of(query, each, GIVES_WAY, force=force))
    with atomic_file.open_output(output, overwrite=overwrite) as file:
        file.write(page.encode())
    note(f"report: {output}")


def default_name(result: Path) -> Path:
    """What a page is called that nobody names: by its result, where we are."""
    stem = result.name.removesuffix(".gz").removesuffix(".jsonl")
    return Path(f"{stem}-report.html")


def _queries(
    paths: Sequence[Path],
    unit_names: tuple[str, ...],
    stat: str,
    selection: Selection,
    renames: tuple[str, ...],
    *,
    by: str | None,
    held: tuple[str, str],
) -> tuple[Query, Query]:
    """What is shown, and the same with a row for every state of the machine; one query if it had one."""
    from mpigauge.cli.options.results import load
    from mpigauge.cli.screen.tables import check
    from mpigauge.query.query import Query, sources_of
    from mpigauge.query.renamed import renamed, renamings
    from mpigauge.show.compared import check_by, thresholds_of

    _, units = check(unit_names, "")
    selection.check()
    renamings(renames)
    thresholds = thresholds_of(*held)
    check_by(len(paths), by)
    loaded = [load(path) for path in paths]
    shown = renamed(sources_of(loaded, stat, selection.state, selection.only), renames)
    query = Query(KIND, shown, False, units, stat, selection.series, selection.sizes, by, thresholds)
    if selection.state is not None or not any(source.states.states for source in shown):
        return query, query
    return query, replace(query, sources=renamed(sources_of(loaded, stat, "all", selection.only), renames))
