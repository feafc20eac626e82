"""One list of findings: each kind has its line with what to do, and all views are of the same findings."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest

from mpigauge.find.disturbances import DISTURBED
from mpigauge.find.findings import (
    KINDS,
    MAX_DOUBTS,
    disturbances_of,
    doubt_lines,
    doubts_of,
    findings_of,
    told,
)
from mpigauge.find.kinds import DOUBTFUL, MAX_LETTERS, About, CellsFound, Found, fitting
from mpigauge.find.missing import CellsNotReached, Damage, FarApart, UnreadLines
from mpigauge.find.warning_sentences import WORDS
from mpigauge.plan.one_pair import OnePair
from mpigauge.result.reader import load
from mpigauge.result.records import End, Unread
from mpigauge.rows.reasons import LaunchFailed
from mpigauge.rows.rows import rows
from mpigauge.rows.warnings import PRECISION, WARNING_KINDS, Warning, WarningKind  # noqa: A004 - as in the module
from tests.healthy import healthy
from tests.made import LARGE, RECORDS, SMALL, campaign, launch, launches_of, measured, result_of, visit
from tests.stored import name_of, stored_results
from tests.thorough import rest
from tests.truth import check

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.result.reader import Result
    from mpigauge.result.records import Record
    from mpigauge.vocabulary import EndReason
    from tests.conftest import Cli

CROWD = {
    "host": "node1",
    "ranks": "0,1",
    "cpus": "0,4",
    "count": 2,
    "places": 2,
    "threads": 1,
    "bound": True,
    "told": False,
    "binding": None,
}
LOST = {"launches": 4, "requested": 10, "skipped": 3, "failed": 3}
TWO = {"fast_s": 1e-6, "slow_s": 1.3e-6, "fast": 4, "slow": 6}
WIDE = {
    "half_width": 12.4,
    "launches_half_width": 12.0,
    "machine_half_width": 0.06,
    "precision": 0.025,
    "launches": 10,
    "launches_needed": 28,
    "launches_needed_low": 20,
    "launches_needed_high": None,
    "launch_share": None,
    "visit_share": None,
    "rounds_share": None,
}
VALUES: dict[WarningKind, dict[str, Any]] = {
    "shared-core": CROWD,
    "mixed": {"differs": "host and programs"},
    "no-interval": {**LOST, "launches": 1, "batch": 1},
    "few-launches": LOST,
    "launches-lost": LOST,
    "few-samples": {"rounds": 100, "stat": "p99"},
    "clock-step": {"step_s": 1e-8, "share": 0.1, "batch": 4, "in_a_row": "blocks"},
    "outlier-launches": {"launch": 7, "factor": 1.8, "odd": 2, "launches": 10},
    "two-kinds-of-launches": TWO,
    "phases": {**TWO, "phases": 3},
    "launches-in-time": {"factor": 1.6, "chance": 0.002, "span_s": 43.0},
    "drift": {"factor": 1.06, "launches": 10},
    "oversubscribed": {"ranks": 8, "cores": 2},
    "hardware-threads": CROWD,
    "tail": {"ratio": 3.5, "stat": "median"},
    "batched": {"batch": 16, "stat": "p99"},
    "skewed": {"skew_s": 6e-8, "share": 0.06},
    "late-starts": {"share": 0.2},
    "clock-error": {"error_s": 1e-7, "share": 0.11},
    "clock-share": {"cost_s": 6e-8, "share": 0.06},
    "relay-late": {"share": 0.5, "late_s": 5e-5, "planted_s": 5e-3},
    "wide": WIDE,
}


def marked(kind: WarningKind, times: int = 120) -> CellsFound:
    """Numbers with a warning, of an operation with a long name."""
    row = rows(result_of(*RECORDS))[0]
    cell = msgspec.structs.replace(row.cell, pattern="bcast-rotating", bytes=512 * 1024)
    return CellsFound(
        (replace(row, cell=cell, warnings=(Warning(kind, VALUES[kind]),)),) * times, times, precision=0.025
    )


FACTS: dict[str, Any] = {
    "damaged": Damage(tuple(range(1000, 9000, 7)), "damaged"),
    "unread": UnreadLines((Unread("osu.txt: line 1200", "has 16 words " * 9, "", 120),) * 12),
    "far-apart": FarApart(1200, 1200, 12345.6),
    "broken": marked("wide"),
    "launch-failed": CellsFound(
        tuple(replace(row, reason=LaunchFailed("no such host " * 9)) for row in marked("wide").rows), 120
    ),
    "not-reached": CellsNotReached(marked("wide").rows, 120, hung=True),
    "never-quiet": marked("wide"),
    "one-pair": OnePair({"stream": ("multi-stream", "incast", "outcast"), "pingpong": ("multi-pingpong",)}),
    **{kind: marked(kind) for kind in WARNING_KINDS},
}


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.name in FACTS], ids=lambda kind: kind.name)
def test_a_line_fits_the_screen_and_every_kind_says_what_to_do(kind: Any) -> None:
    fact = FACTS[kind.name]
    lines = [said.line for said in kind.lines(fact)]
    assert len(fitting(lines)) <= MAX_LETTERS
    assert any(len(line) <= MAX_LETTERS for line in lines) or kind.name == "damaged"
    words = kind.words(fact)
    assert words.remedy
    assert words.consequence or kind.name == "unread"
    assert words.text.endswith(words.remedy)


@pytest.mark.parametrize("kind", WARNING_KINDS)
def test_a_counted_warning_ends_with_its_remedy(kind: WarningKind) -> None:
    if WORDS[kind].lines is None:
        words = WORDS[kind].words(**VALUES[kind])
        (found,) = (one for one in KINDS if one.name == kind)
        assert found.lines is not None
        line = fitting(said.line for said in found.lines(marked(kind)))
        assert line.endswith(f"{words.so or words.consequence}: {words.do or words.remedy}")


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.name in FACTS], ids=lambda kind: kind.name)
def test_who_reads_a_report_is_told_no_option_and_no_command(kind: Any) -> None:
    fact = FACTS[kind.name]
    words, found = kind.words(fact), Found(About(result_of(campaign()), []), kind, fact)
    assert words.told == replace(words, remedy="", do="")
    for text in (found.told_line, words.told.text):
        assert not re.search(r"--[a-z]|mpigauge (run|show|resume|doctor)", text), text
    assert found.told_line


@pytest.mark.parametrize(("crowded", "advice"), [(False, "try --bind core"), (True, "use fewer")])
def test_bimodal_launches_are_to_be_bound_where_there_are_cores_to_choose(crowded: bool, advice: str) -> None:
    cells = marked("two-kinds-of-launches")
    if crowded:
        more = Warning("oversubscribed", VALUES["oversubscribed"])
        cells = replace(cells, rows=tuple(replace(row, warnings=(*row.warnings, more)) for row in cells.rows))
    (kind,) = (one for one in KINDS if one.name == "two-kinds-of-launches")
    assert kind.lines is not None
    assert fitting(said.line for said in kind.lines(cells)).endswith(advice)


def test_every_kind_is_there_once() -> None:
    names = [kind.name for kind in KINDS]
    assert len(names) == len(set(names))
    assert set(WARNING_KINDS) <= set(names)
    assert all((kind.lines is None) or kind.severity in DOUBTFUL for kind in KINDS)


@pytest.mark.parametrize(
    ("ends", "kind"),
    [((), "cut-short"), (("interrupted",), "cut-short"), (("budget",), "not-reached")],
    ids=["killed", "interrupted", "its time was up"],
)
@pytest.mark.parametrize("begun", [True, False])
def test_what_resuming_measures_is_not_told_as_a_lack_of_time(
    ends: tuple[EndReason, ...], kind: str, begun: bool
) -> None:
    measured: list[Record] = [launch(1), visit(1, 0, SMALL, [200] * 9)] if begun else []
    of = result_of(campaign(SMALL, LARGE), *measured, *(End(reason, 1.0, "") for reason in ends))
    said = {one.kind for one in findings_of(of, rows(of))}
    assert {"cut-short", "not-reached"} & said == {kind}


def test_what_is_quoted_is_said_before_what_is_not() -> None:
    of = result_of(*RECORDS)
    about = About(of, rows(of))
    wide, skewed = (next(kind for kind in KINDS if kind.name == name) for name in ("wide", "skewed"))
    cells = marked("wide")
    assert Found(about, wide, replace(cells, quoted=True)).rank < Found(about, skewed, cells).rank


@pytest.mark.parametrize(
    ("spread", "precision", "begins"),
    [
        (0.3, PRECISION, ["wide intervals: pingpong, 8 B (\N{PLUS-MINUS SIGN}"]),
        (0.06, PRECISION, []),
        (0.06, 0.01, ["wider than \N{PLUS-MINUS SIGN}1 %: 1 of 1 numbers, worst "]),
    ],
    ids=["wide", "a default", "asked for"],
)
def test_a_width_is_a_doubt_where_it_was_asked_for_or_is_wide(
    spread: float, precision: float, begins: list[str]
) -> None:
    """What JSON says is the same: it has every interval that is wider than the precision."""
    numbers = range(1, 11)
    asked = campaign(SMALL)
    made = result_of(
        msgspec.structs.replace(asked, plan=msgspec.structs.replace(asked.plan, precision=precision)),
        *launches_of([SMALL], numbers),
        *measured([SMALL], numbers, lambda _, number: [round(10_000 * (1 + spread * (number % 3 - 1)))] * 40),
    )
    found = findings_of(made, rows(made))
    assert [one.kind for one in told(found) if one.kind == "wide"] == ["wide"]
    lines = [one.line for one in doubts_of(made, rows(made)) if one.kind == "wide"]
    assert len(lines) == len(begins)
    assert all(begin in line for line, begin in zip(lines, begins, strict=True)), lines


# ---- Views ---------------------------------------------------------------------------------------


def assert_views_agree(of: Result) -> None:
    """What is on the screen stands below tables and in JSON, too, and counts the same numbers."""
    found = rows(of)
    every = [one for one in findings_of(of, found) if one.of.severity in DOUBTFUL]
    screen, below = doubts_of(of, found), [line.text for line in doubt_lines(of, found)]
    in_json = [one for one in told(findings_of(of, found)) if one.consequence or one.severity == "warning"]
    assert {one.kind for one in screen} <= {one.kind for one in every}
    assert {one.kind for one in in_json} == {one.kind for one in every}
    assert below == [words.text for one in every for words in one.below()]
    wrong = {kind.name for kind in DISTURBED}
    assert [one.kind for one in disturbances_of(of, found)] == [
        one.kind for one in every if one.kind in wrong
    ]
    for one in screen:
        if one.kind in WARNING_KINDS:
            of_kind = [each for each in in_json if each.kind == one.kind]
            assert len(one.rows) == len(of_kind)
            assert {row.cell for row in one.rows} == {cell for each in of_kind for cell in each.cells}


@pytest.mark.thorough
@pytest.mark.parametrize("path", stored_results(), ids=name_of)
def test_no_screen_of_a_stored_result_contradicts_another(path: Path, cli: Cli) -> None:
    """As people see it: each line with `!` is a doubt of the list, and its kind is in JSON."""
    of = load(path)
    assert_views_agree(of)
    found = rows(of)
    lines = [line[2:] for line in cli("show", path).out.splitlines() if line.startswith("! ")]
    assert lines == [one.line for one in doubts_of(of, found)][: len(lines)]
    columns = {(row.cell.job, row.state) for row in found}
    assert len(lines) == min(MAX_DOUBTS, len(doubts_of(of, found))) or len(columns) > 1
    said = json.loads(cli("show", path, "--format", "json").out)
    assert [one["text"] for one in said["findings"]] == [one.text for one in told(findings_of(of, found))]
    explained = json.loads(cli("explain", path, "--format", "json").out)["disturbances"]
    assert [one["kind"] for one in explained] == [one.kind for one in disturbances_of(of, found)]


def test_all_views_are_of_one_list() -> None:
    assert_views_agree(result_of(*RECORDS))
    assert_views_agree(healthy(np.random.default_rng(3), shared=0.5))


# ---- Chance --------------------------------------------------------------------------------------

TRUE = {"wide"}
"""Said of healthy results, too: intervals of ten such launches are wider than 3 %."""


def kinds_on_screen(of: Result) -> list[str]:
    return [one.kind for one in doubts_of(of, rows(of)) if one.kind not in TRUE]


@pytest.mark.parametrize("shared", [0.0, 0.5, 0.8])
def test_healthy_results_hardly_have_a_line(shared: float) -> None:
    """One in twenty may; that two of five have one is a chance of 2 %."""
    generator = np.random.default_rng(21)
    assert sum(bool(kinds_on_screen(healthy(generator, shared))) for _ in range(5)) <= 1


@pytest.mark.truth
@pytest.mark.parametrize("shared", rest([0.0, 0.5, 0.8], [0.5]))
def test_of_200_healthy_results_ten_at_most_have_a_line(shared: float) -> None:
    generator = np.random.default_rng(12)
    false = sum(bool(kinds_on_screen(healthy(generator, shared))) for _ in range(200))
    check("healthy results with a line, of 200", false, below=10.5)


@pytest.mark.parametrize(
    ("kind", "planted", "begins"),
    [
        ("outlier-launches", lambda _, number: 1.5 if number == 7 else 1.0, 1.0),
        ("outlier-launches", lambda of, number: 1.8 if number == 7 and of.bytes == 8 else 1.0, 1.0),
        ("two-kinds-of-launches", lambda _, number: 1.3 if number in {1, 3, 4, 6, 9} else 1.0, 1.0),
        ("phases", lambda _, number: 1.3 if number > 5 else 1.0, 1.0),
        ("drift", lambda *_: 1.0, 1.1),
    ],
)
@pytest.mark.parametrize("shared", [0.0, 0.8])
def test_what_is_planted_has_its_line(shared: float, kind: str, planted: Any, begins: float) -> None:
    """In all numbers, or in one that the screen quotes."""
    assert kind in kinds_on_screen(healthy(np.random.default_rng(13), shared, planted, begins))


@pytest.mark.parametrize("marked_rows", [1, 2])
def test_a_row_that_is_marked_by_chance_keeps_its_mark_below_and_in_json(marked_rows: int) -> None:
    """One number in a hundred, which the screen does not quote."""
    sizes = [8 * (20 + place) for place in range(marked_rows)]
    of = healthy(
        np.random.default_rng(14),
        0.5,
        lambda of, number: 1.25 if number == 7 and of.bytes in sizes and of.mode == "standard" else 1.0,
    )
    found = rows(of)
    marked = [row for row in found if any(one.kind == "outlier-launches" for one in row.warnings)]
    assert marked
    assert "outlier-launches" not in [one.kind for one in doubts_of(of, found)]
    assert any(line.text.startswith("outlier-launches: ") for line in doubt_lines(of, found))
    assert len([one for one in told(findings_of(of, found)) if one.kind == "outlier-launches"]) == len(marked)
