"""`mpigauge compare`: whether one of two is slower, and how sure that is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mpigauge.ask import (
    VERBS,
    Request,
    compare_with_baseline,
    compare_with_earlier,
    with_hint_of_earlier,
)
from mpigauge.cli.options.common import (
    comparison_options,
    keep_option,
    results_argument,
    stat_option,
    trust_options,
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
    from mpigauge.query.query import Query
    from mpigauge.result.reader import Result
    from mpigauge.result.records import Campaign
    from mpigauge.show.compared import ComparedSources


@click.command("compare")
@results_argument
@click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Hold RESULT against what at least three sessions in a folder predict.",
)
@click.option(
    "--before",
    is_flag=True,
    help="Hold RESULT against the earlier results of its plan in results/, and those that were kept.  "
    "[default: where RESULT has nothing to compare]",
)
@keep_option
@comparison_options
@click.option(
    "--strict",
    is_flag=True,
    help="Pass only if every number has a partner and is decided: slower, faster or within the margin.",
)
@click.option(
    "--remeasure", is_flag=True, help="Measure suspicious numbers again, in turn; they alone decide."
)
@trust_options("--remeasure runs what a result names, whoever began it.")
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
    before: bool,
    keep_baseline: bool,
    by: str | None,
    margin: str,
    allow: str,
    strict: bool,
    remeasure: bool,
    trust: bool,
    digest: str,
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
    as RESULT was, at other times. --before finds these by itself, and is what a RESULT of one of everything
    is asked. The exit status is 1 if something is slower or lost, 0 if nothing is slower by more than
    --allow, and 5 if that cannot be decided.

    Without --by, the first factor with several values is compared. Libraries, labels and settings get a
    verdict. Modes, places and numbers of ranks differ anyway: of these there are the ratios, with status 0,
    unless --by or --strict asks for a verdict, or the campaign was made --until decided.

    \b
    mpigauge compare both.jsonl --by mpi
    mpigauge compare both.jsonl --by mpi --sizes 8:64KiB --all
    mpigauge compare before.jsonl after.jsonl --format markdown
    mpigauge compare both.jsonl --remeasure -o again.jsonl
    mpigauge compare after.jsonl --baseline results
    mpigauge compare --before
    mpigauge compare both.jsonl --margin 1% --allow 5% --strict
    """
    from mpigauge.campaign.remeasure import remeasure_factor
    from mpigauge.cli.sessions.session import check_saved
    from mpigauge.cli.sessions.session import keep_baseline as keep
    from mpigauge.compare.history.earlier import earlier_results
    from mpigauge.show.compared import check_alike, check_count, compare_remeasured, thresholds_of

    thresholds = thresholds_of(margin, allow)
    units = units_of(unit_names)
    paths = named(results)
    check_count(len(paths), by)
    _check_alone(paths, by, baseline, before=before, keep=keep_baseline)
    _check_remeasure(remeasure, baseline is not None or before, output, trust=trust or bool(digest))
    request = Request(VERBS["compare"], selection, stat, by=by, thresholds=thresholds, units=units)
    to_keep = _kept_campaign(paths[0]) if keep_baseline else None
    if baseline is not None:
        compared = compare_with_baseline(paths[0], baseline, request, load, note, force=force)
    elif before:
        result = load(paths[0])
        compared = compare_with_earlier(result, earlier_results(result.campaign), request, load, note)
    else:
        query = request.query(map(load, paths))
        if not force:
            check_alike(query.sources)
        compared = _in_turn_or_before(query, request, verdict_asked=strict, remeasure=remeasure)
    remeasured = None
    if remeasure:
        asked = [source.result for source in query.sources]
        ended = _remeasure(compared, asked, output, trust=trust, digest=digest, quiet=quiet)
        if isinstance(ended, int):
            return ended
        remeasured = ended
        compared = compare_remeasured(query, compared, remeasured.result, remeasure_factor(asked, by))
    status = put_comparison(compared, units, outputs, strict=strict, everything=everything)
    if remeasured is not None:
        check_saved(remeasured)
    if to_keep is not None:
        keep(paths[0], to_keep, quiet=quiet)
    return status


def _in_turn_or_before(
    query: Query, request: Request, *, verdict_asked: bool, remeasure: bool
) -> ComparedSources:
    """Compare what was measured in turn, or two results; else one result with the earlier ones of its plan.

    Raises:
        UsageError: There is nothing to compare, not even an earlier result.
    """
    from mpigauge.compare.history.earlier import earlier_results
    from mpigauge.show.compared import OneOfEverythingError, compare_sources

    result = query.sources[0].result
    looks = len(query.sources) == 1 and not remeasure
    earlier = earlier_results(result.campaign) if looks else []
    try:
        compared = compare_sources(query, verdict_asked=verdict_asked or remeasure)
    except OneOfEverythingError:
        if not earlier:
            raise
        return compare_with_earlier(result, earlier, request, load, note)
    return with_hint_of_earlier(compared, result, earlier)


def _kept_campaign(path: Path) -> Campaign:
    """Return what a result that is to be kept was asked for.

    Raises:
        UsageError: It is no result file of mpigauge.
    """
    from mpigauge.result.reader import STANDARD_INPUT, load_campaign

    if path == STANDARD_INPUT:
        raise UsageError("--keep-baseline keeps a file, not standard input", "name the result file")
    return load_campaign(path)


def _check_alone(
    paths: Sequence[Path], by: str | None, baseline: Path | None, *, before: bool, keep: bool
) -> None:
    """Refuse a second result, and --by, where one result is held against sessions, or kept."""
    if baseline is not None and before:
        raise UsageError("--before and --baseline exclude each other", "use one of them")
    if len(paths) > 1 and keep:
        raise UsageError("--keep-baseline keeps one result, and two are named", "name the one to keep")
    if (baseline is not None or before) and (len(paths) > 1 or by is not None):
        asked = "--before" if before else "--baseline"
        raise UsageError(
            f"{asked} holds one result against sessions", f"leave out {'--by' if by else 'the second one'}"
        )


def _check_remeasure(remeasure: bool, looks_back: bool, output: Path | None, *, trust: bool) -> None:
    """Refuse --remeasure of sessions, which cannot be measured again, and its options without it."""
    if remeasure and looks_back:
        raise UsageError("--remeasure and --baseline or --before exclude each other", "use one of them")
    if not remeasure and (output is not None or trust):
        raise UsageError("--output and --trust are for --remeasure", "leave them out, or measure again")


def _remeasure(
    compared: ComparedSources,
    results: Sequence[Result],
    output: Path | None,
    *,
    trust: bool,
    digest: str,
    quiet: bool,
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
    check_trusted(results, ("mpigauge", "compare", "--remeasure"), trust=trust, digest=digest)
    picked = suspicious(compared.shown)
    launches = launches_for(compared.shown.cells)
    plan = remeasure_plan(results, picked, launches, new_seed())
    if (lab := lab_to_enter(plan, where)) is not None:
        return same_command_in(lab, where)
    session = prepare(with_hidden_variables(plan, where), where)
    return measured_or_stopped(session, output, quiet=quiet)
