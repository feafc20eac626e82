"""`mpigauge compare`: whether one of two is slower, and how sure that is."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mpigauge.ask import VERBS, Request, compare_with_baseline
from mpigauge.cli.options.common import (
    comparison_options,
    results_argument,
    stat_option,
    unit_option,
    units_of,
)
from mpigauge.cli.options.outputs import output_options_and_result
from mpigauge.cli.options.selection import load, selection_options
from mpigauge.cli.screen.comparison import put_comparison
from mpigauge.cli.screen.streams import note
from mpigauge.errors import UsageError
from mpigauge.result.files import named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.ask import Selection
    from mpigauge.campaign.measuring import SessionEnd
    from mpigauge.cli.options.outputs import Outputs
    from mpigauge.result.reader import Result
    from mpigauge.show.compared import ComparedSources


@click.command("compare")
@results_argument
@click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Hold RESULT against what at least three sessions in a folder predict.",
)
@comparison_options
@click.option(
    "--strict",
    is_flag=True,
    help="Pass only if every number has a partner and is decided: slower, faster or within the margin.",
)
@click.option(
    "--remeasure", is_flag=True, help="Measure suspicious numbers again, in turn; they alone decide."
)
@click.option("--trust", is_flag=True, help="--remeasure runs what a result names, whoever began it.")
@click.option("-q", "--quiet", is_flag=True, help="No progress of --remeasure.")
@click.option("--all", "everything", is_flag=True, help="A line for every number.")
@selection_options
@unit_option
@stat_option
@output_options_and_result
def command(
    results: tuple[Path, ...],
    *,
    baseline: Path | None,
    by: str | None,
    margin: str,
    allow: str,
    strict: bool,
    remeasure: bool,
    trust: bool,
    output: Path | None,
    quiet: bool,
    force: bool,
    everything: bool,
    selection: Selection,
    outputs: Outputs,
    unit_names: tuple[str, ...],
    stat: str,
) -> int:
    """Say whether one of two is slower: libraries or modes of one RESULT, or a second RESULT against a first.

    Launches that were made in turn give verdicts; two results of different times never give "slower", since
    the machine may have moved. --baseline asks how far apart times are: a folder of results that were made
    as RESULT was, at other times. The exit status is 1 if something is slower or lost, 0 if nothing is slower
    by more than --allow, and 5 if that cannot be decided.

    Without --by, the first factor with several values is compared. Libraries, labels and settings get a
    verdict. Modes, places and numbers of ranks differ anyway: of these there are the ratios, with status 0,
    unless --by or --strict asks for a verdict, or the campaign was made --until decided.

    \b
    mpigauge compare both.jsonl --by mpi
    mpigauge compare both.jsonl --by mpi --sizes 8:64KiB --all
    mpigauge compare before.jsonl after.jsonl --format markdown
    mpigauge compare both.jsonl --remeasure -o again.jsonl
    mpigauge compare after.jsonl --baseline results
    mpigauge compare both.jsonl --margin 1% --allow 5% --strict
    """
    from mpigauge.campaign.remeasure import remeasure_factor
    from mpigauge.cli.sessions.session import check_saved
    from mpigauge.show.compared import (
        check_alike,
        check_count,
        compare_remeasured,
        compare_sources,
        thresholds_of,
    )

    thresholds = thresholds_of(margin, allow)
    units = units_of(unit_names)
    paths = named(results)
    check_count(len(paths), by)
    _check_remeasure(remeasure, baseline, output, trust)
    request = Request(
        VERBS["compare"], selection, stat, each_state=True, by=by, thresholds=thresholds, units=units
    )
    if baseline is not None:
        compared = compare_with_baseline(_only_path(paths, by), baseline, request, load, note, force=force)
        return put_comparison(compared, units, outputs, strict=strict, everything=everything)
    query = request.query(map(load, paths))
    if not force:
        check_alike(query.sources)
    compared = compare_sources(query, verdict_asked=strict or remeasure)
    if remeasure:
        before = [source.result for source in query.sources]
        remeasured = _remeasure(compared, before, output, trust=trust, quiet=quiet)
        if isinstance(remeasured, int):
            return remeasured
        compared = compare_remeasured(query, compared, remeasured.result, remeasure_factor(before, by))
        status = put_comparison(compared, units, outputs, strict=strict, everything=everything)
        check_saved(remeasured)
        return status
    return put_comparison(compared, units, outputs, strict=strict, everything=everything)


def _only_path(paths: Sequence[Path], by: str | None) -> Path:
    if len(paths) > 1 or by is not None:
        raise UsageError(
            "--baseline holds one result against sessions", f"leave out {'--by' if by else 'the second one'}"
        )
    return paths[0]


def _check_remeasure(remeasure: bool, baseline: Path | None, output: Path | None, trust: bool) -> None:
    """Refuse --remeasure of a baseline, which has no second side, and its options without it."""
    if remeasure and baseline is not None:
        raise UsageError("--remeasure and --baseline exclude each other", "use one of them")
    if not remeasure and (output is not None or trust):
        raise UsageError("--output and --trust are for --remeasure", "leave them out, or measure again")


def _remeasure(
    compared: ComparedSources, results: Sequence[Result], output: Path | None, *, trust: bool, quiet: bool
) -> SessionEnd | int:
    """Measure suspicious cells again; return how that ended, or the exit status if it was cut short.

    Raises:
        UsageError: The sides cannot be measured in turn, or a result is imported.
        EnvironmentLacksError: A library is gone, or does not work.
        JobError: Nothing could be measured.
    """
    from mpigauge.campaign.prepare import lab_to_enter, prepare, with_hidden_variables
    from mpigauge.campaign.remeasure import remeasure_plan
    from mpigauge.campaign.trusted_results import check_trusted
    from mpigauge.cli.sessions.lab_runs import same_command_in
    from mpigauge.cli.sessions.session import measured_or_stopped
    from mpigauge.compare.suspicious import launches_for, suspicious
    from mpigauge.plan.source import new_seed

    paths = [str(result.path) for result in results]
    where = " and ".join(paths)
    for result in () if trust else results:
        check_trusted(result, f"mpigauge compare --remeasure --trust {shlex.join(paths)}")
    picked = suspicious(compared.shown)
    launches = launches_for(compared.shown.cells)
    plan = remeasure_plan(results, picked, launches, new_seed())
    if (lab := lab_to_enter(plan, where)) is not None:
        return same_command_in(lab, where)
    session = prepare(with_hidden_variables(plan, where), where)
    return measured_or_stopped(session, output, quiet=quiet)
