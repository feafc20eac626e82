"""`mpigauge check`: whether results are as expected, by sentences, by earlier sessions, or by guidelines."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mpigauge.ask import VERBS, Request, compare_with_baseline
from mpigauge.cli.options.common import results_argument, unit_option, units_of
from mpigauge.cli.options.outputs import output_options
from mpigauge.cli.options.selection import load, loaded, selection_options
from mpigauge.cli.screen.comparison import put_comparison, status_of_verdict
from mpigauge.cli.screen.streams import note
from mpigauge.errors import EXIT_CHECK_FAILED, EXIT_DONE, EXIT_UNDECIDED, UsageError
from mpigauge.result.files import named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.ask import Selection
    from mpigauge.check.expectation_file import Expectation
    from mpigauge.cli.options.outputs import Outputs
    from mpigauge.document.document import Units
    from mpigauge.result.reader import Result
    from mpigauge.vocabulary import ExpectationVerdict

STATUSES: dict[ExpectationVerdict, int] = {
    "fails": EXIT_CHECK_FAILED,
    "undecided": EXIT_UNDECIDED,
    "holds": EXIT_DONE,
}


@click.command("check")
@results_argument
@click.option(
    "--expect",
    "sentences",
    multiple=True,
    metavar="SENTENCE",
    help="PATTERN [WORDS] [SIZE] QUANTITY < or > BOUND; repeatable.",
)
@click.option(
    "--expect-file",
    "expect_files",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="TOML file with such sentences by name, below [expect]; repeatable.",
)
@click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Sessions in a folder that say what to expect, as compare --baseline.",
)
@click.option("--guidelines", is_flag=True, help="Nothing is slower than what could replace it.")
@click.option("--all", "everything", is_flag=True, help="A line for every number.")
@selection_options
@unit_option
@output_options
def command(
    results: tuple[Path, ...],
    *,
    sentences: tuple[str, ...],
    expect_files: tuple[Path, ...],
    baseline: Path | None,
    guidelines: bool,
    everything: bool,
    selection: Selection,
    outputs: Outputs,
    unit_names: tuple[str, ...],
) -> int:
    """Say whether numbers of RESULT are as expected; their intervals decide.

    Expectations are sentences: a quantity is time (or latency), bandwidth, or busbw (bus bandwidth), with a
    statistic before it if that is not the median: p99 latency. A bound may be a share of a rate.
    A number fails if that is no chance among all of them.
    Guidelines: no operation is slower than others that give the same, than several calls with a part of the
    bytes each, or than itself with more bytes or more ranks.

    The exit status is 0 if all of it holds, 1 if something does not, and 5 if that cannot be decided, or
    something was not measured.

    \b
    mpigauge check results/node1.jsonl --expect 'pingpong 8B latency < 100us'
    mpigauge check results/node1.jsonl --expect 'stream unidirectional 1MiB bandwidth > 80% of 10Gbit/s'
    mpigauge check results/node1.jsonl --expect-file examples/check/expect.toml --format junit
    mpigauge run --suite guidelines -o guidelines.jsonl
    mpigauge check guidelines.jsonl --guidelines
    """
    question = _question(sentences or expect_files, baseline, guidelines)
    units = units_of(unit_names)
    request = Request(VERBS["check"], selection, units=units)
    if question == "--expect":
        loaded_results = list(loaded(results))
        return _expected(
            _expectations(sentences, expect_files, loaded_results), loaded_results, request, units, outputs
        )
    path = _only_path(named(results))
    if baseline is not None:
        comparison = compare_with_baseline(path, baseline, request, load, note, force=False)
        return put_comparison(comparison, units, outputs, everything=everything)
    return _guidelines(path, request, units, outputs, everything=everything)


def _question(expected: object, baseline: object, guidelines: object) -> str:
    """Return the one kind of question that options ask."""
    questions = {"--expect": expected, "--baseline": baseline, "--guidelines": guidelines}
    names = [name for name, value in questions.items() if value]
    if not names:
        raise UsageError("nothing to check", f"say what is expected: {', '.join(questions)}")
    if len(names) > 1:
        raise UsageError(f"{' and '.join(names)} are {len(names)} questions", "check one after the other")
    return names[0]


def _only_path(paths: Sequence[Path]) -> Path:
    if len(paths) > 1:
        raise UsageError(f"{len(paths)} results: one can be checked", "check each of them")
    return paths[0]


def _expectations(
    sentences: Sequence[str], files: Sequence[Path], results: Sequence[Result]
) -> list[Expectation]:
    """Return all expectations; they may name patterns that only these results have."""
    from mpigauge.check.expectation_file import parse, read_expectations

    names = {pattern.name for result in results for pattern in result.campaign.patterns}
    typed = [parse(sentence, foreign=names) for sentence in sentences]
    return [*typed, *(expectation for path in files for expectation in read_expectations(path, names))]


def _expected(
    expectations: Sequence[Expectation],
    results: Sequence[Result],
    request: Request,
    units: Units,
    outputs: Outputs,
) -> int:
    """Check every number of every result; each statistic is computed once."""
    from mpigauge.check.expectations import adjusted_for_all
    from mpigauge.check.table import check_expectation, document, verdict_of

    rows = {}
    for stat in dict.fromkeys(expectation.stat for expectation in expectations):
        sources = replace(request, stat=stat).selected(results)
        rows[stat] = [row for source in sources for row in source.rows]
    judged = adjusted_for_all(
        [
            checked
            for expectation in expectations
            for checked in check_expectation(expectation, rows[expectation.stat])
        ]
    )
    outputs.put(document(judged, units))
    return STATUSES[verdict_of(judged)]


def _guidelines(path: Path, request: Request, units: Units, outputs: Outputs, *, everything: bool) -> int:
    """Check operations against others that could replace them."""
    from mpigauge.compare.guideline_table import document
    from mpigauge.compare.guidelines import check

    (source,) = replace(request, each_state=True).selected([load(path)])
    shown = check(source.rows, source.patterns)
    outputs.put(document(shown, units, everything=everything))
    return status_of_verdict(shown.verdict)
