"""`mpigauge report`: all that is shown of results as one page, to hand over."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mpigauge import atomic_file, pdf
from mpigauge.ask import VERBS, Request, page_html
from mpigauge.cli.options.common import (
    comparison_options,
    results_argument,
    stat_option,
    unit_option,
    units_of,
)
from mpigauge.cli.options.into import check_into, folder_request, hand_in, into_option
from mpigauge.cli.options.option_groups import Chapters
from mpigauge.cli.options.selection import load, rename_option, selection_options
from mpigauge.cli.screen.doing import doing
from mpigauge.cli.screen.streams import note
from mpigauge.errors import UsageError
from mpigauge.inputs import check_output
from mpigauge.result.files import named, stem_of

if TYPE_CHECKING:
    from mpigauge.ask import Selection

PDF = ".pdf"
FORMS = (".html", ".htm", PDF)


@click.command("report", cls=Chapters, chapters={"by": "Of the comparison"})
@results_argument
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Page to write (.html; .pdf by Chromium or Chrome).  [default: RESULT-report.html, here]",
)
@into_option
@click.option("--overwrite", is_flag=True, help="Replace the page, or the files of --into, if they exist.")
@unit_option
@stat_option
@rename_option
@selection_options
@comparison_options
def command(
    results: tuple[Path, ...],
    *,
    output: Path | None,
    into: Path | None,
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

    The page is one file that works offline and loads nothing. --into makes a folder to hand in: result, page,
    sentences, tables, the usual figure, and all others below more. Without RESULT, it is of the newest in
    results/. Two results are compared, and so are two libraries or modes of one.

    \b
    mpigauge report
    mpigauge report results/node1.jsonl -o node1.html
    mpigauge report results/node1.jsonl -o node1.pdf
    mpigauge report results/node1.jsonl --into report
    mpigauge report before.jsonl after.jsonl -o both.html
    mpigauge report both.jsonl --by mpi --series pingpong -o pingpong.html
    """
    paths = named(results)
    # Before results are read, which may take a while.
    if into is not None:
        check_into(into, paths, {"-o": output}, overwrite=overwrite)
    output = output or Path(f"{stem_of(paths[0])}-report.html")
    if into is None:
        _check_page(output, overwrite=overwrite)
    from mpigauge.show.compared import check_by, thresholds_of

    units, thresholds = units_of(unit_names), thresholds_of(margin, allow)
    check_by(len(paths), by)
    request = Request(VERBS["report"], selection, stat, renames, by=by, thresholds=thresholds, units=units)
    request.check()
    if into is not None:
        hand_in(folder_request(into, overwrite=overwrite, force=force), request, [*map(load, paths)])
        return
    with doing("reads what was measured") as begins:
        page = page_html(request.query(map(load, paths)), request, begins, force=force)
        if output.suffix.lower() == PDF:
            begins(f"{output}: printed by {Path(pdf.browser()).name}")
            pdf.write(page, output, overwrite=overwrite)
        else:
            with atomic_file.open_output(output, overwrite=overwrite) as file:
                file.write(page.encode())
    note(f"report: {output}")


def _check_page(output: Path, *, overwrite: bool) -> None:
    """Refuse the name of a page that cannot be written.

    Raises:
        UsageError: It is not the name of a page, or there is such a file.
        EnvironmentLacksError: It is a PDF, and no browser is installed.
    """
    if output.suffix.lower() not in FORMS:
        raise UsageError(f"-o: {output} is not the name of a page", f"end it in {', '.join(FORMS)}")
    check_output(output)
    atomic_file.check_free(output, overwrite=overwrite)
    if output.suffix.lower() == PDF:
        pdf.browser()
