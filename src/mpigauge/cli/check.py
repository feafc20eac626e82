"""`mpigauge check`: whether results are as expected."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mpigauge.cli.options import format_option, only_option, results_argument, state_option, unit_option
from mpigauge.cli.results import named
from mpigauge.errors import EXIT_CHECK_FAILED, EXIT_DONE, EXIT_UNDECIDED, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.analysis.expectations import Judged
    from mpigauge.plan.expectations import Expectation
    from mpigauge.vocabulary import ExpectationVerdict, OnlyChoice, StateChoice

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
    "files",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="TOML file with such sentences by name, below [expect]; repeatable.",
)
@state_option
@only_option
@unit_option
@format_option()
def command(
    results: tuple[Path, ...],
    *,
    sentences: tuple[str, ...],
    files: tuple[Path, ...],
    state: StateChoice | None,
    only: OnlyChoice | None,
    form: str,
    unit_names: tuple[str, ...],
) -> int:
    """Say whether numbers of RESULT are as expected; their intervals decide.

    A quantity is time (or latency), bandwidth, or busbw (bus bandwidth), with a statistic before it if that
    is not the median: p99 latency. A bound may be a share of a rate. The exit status is 0 if all hold, 1 if
    any fails, and 5 if that cannot be decided, or a number was not measured.

    \b
    mpigauge check results/node1.jsonl --expect 'pingpong 8B latency < 100us'
    mpigauge check results/node1.jsonl --expect 'stream unidirectional 1MiB bandwidth > 80% of 10Gbit/s'
    mpigauge check results/node1.jsonl --expect-file examples/check/expect.toml --format junit
    """
    from mpigauge.cli.tables import check, rendered
    from mpigauge.show.tables.check import document, verdict_of

    expectations = _expectations(sentences, files)
    _, units = check(unit_names, "")
    found = _judged(expectations, named(results), state, only)
    click.echo(rendered(document(found, units), form), nl=False)
    return STATUSES[verdict_of(found)]


def _expectations(sentences: Sequence[str], files: Sequence[Path]) -> list[Expectation]:
    from mpigauge.plan.expectations import parse, read_expectations

    found = [*map(parse, sentences), *(one for path in files for one in read_expectations(path))]
    if not found:
        raise UsageError("nothing is expected", "mpigauge check RESULT --expect 'pingpong 8B latency < 2us'")
    return found


def _judged(
    expectations: Sequence[Expectation],
    paths: Sequence[Path],
    state: StateChoice | None,
    only: OnlyChoice | None,
) -> list[Judged]:
    """Every number of every result; each statistic is computed once."""
    from mpigauge.result.reader import load
    from mpigauge.show.query import sources_of
    from mpigauge.show.tables.check import held_against

    loaded = list(map(load, paths))
    rows = {
        stat: [row for source in sources_of(loaded, stat, state, only) for row in source.rows]
        for stat in dict.fromkeys(one.stat for one in expectations)
    }
    return [one for expectation in expectations for one in held_against(expectation, rows[expectation.stat])]
