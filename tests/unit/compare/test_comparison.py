"""Whole comparisons: of rows of two sides, with controls, states, and what was not measured."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest

from mpigauge.ask import comparison_of
from mpigauge.compare.comparison import compare, runs_of
from mpigauge.compare.sentences import headline, notes, side_namer, sides_of, verdict_of
from mpigauge.compare.sides import pairs_between, pairs_by
from mpigauge.compare.table import document
from mpigauge.document.document import Line, Units
from mpigauge.find.warning_sentences import words_of
from mpigauge.query.query import Query, source_of
from mpigauge.rows.rows import rows
from mpigauge.show.compared import compare_sources
from mpigauge.show.figures import KINDS
from mpigauge.show.formats import json
from mpigauge.stats.decision import Thresholds
from mpigauge.stats.limits import LAUNCHES_OF_A_VERDICT
from tests.made import campaign, cell, eager, in_states, launches_of, measured, result_of

if TYPE_CHECKING:
    from mpigauge.compare.comparison import Comparison
    from mpigauge.plan.model import Cell
    from mpigauge.rows.rows import Row

USUAL = Thresholds()

SIZES = (8, 64, 512, 4096)
NUMBERS = range(1, 11)


MODES = ("standard", "synchronous")


def rows_with(
    times_ns: dict[tuple[str, int], float], pattern: str = "pingpong", launches: range = NUMBERS
) -> list[Row]:
    """Rows of two libraries, by name and size; launches differ by 1 %, which both of them share."""
    cells = [cell(pattern, size=size, mpi=mpi) for mpi, size in times_ns]
    steady = np.random.default_rng(12).normal(1, 0.01, max(launches) + 1)
    own = np.random.default_rng(13)
    visits = measured(
        cells,
        launches,
        lambda of, number: [round(times_ns[of.mpi, of.bytes] * steady[number] * own.normal(1, 0.002))] * 5,
    )
    result = result_of(campaign(*cells), *launches_of(cells, launches), *visits)
    return rows(result)


def both(base: float, *others: float, pattern: str = "pingpong") -> list[Row]:
    """Two libraries; the second takes so long at each size, the first always the same."""
    times = {("mpich", size): base for size in SIZES[: len(others)]}
    return rows_with(
        {**times, **{("openmpi", size): time for size, time in zip(SIZES, others, strict=False)}}, pattern
    )


def judged(*found: list[Row]) -> Comparison:
    return compare([pair for one in found for pair in pairs_by(one, "mpi")], USUAL)


def test_the_slower_of_two_libraries_is_named_where_it_is() -> None:
    shown = judged(both(10_000, 10_000, 11_000, 11_500, 10_010))
    assert [one.verdict for one in shown.cells] == ["same", "slower", "slower", "same"]
    assert shown.verdict == "slower"
    assert shown.interleaved


def test_what_is_faster_passes_and_equals_pass() -> None:
    assert judged(both(10_000, 9_000, 10_000)).verdict == "faster"
    assert judged(both(10_000, 10_010, 10_000)).verdict == "same"


def test_a_control_that_moves_takes_all_verdicts_back() -> None:
    shown = judged(both(10_000, 11_000, 11_000), both(10_000, 11_000, pattern="memcpy"))
    assert shown.verdict == "machine"
    assert {one.verdict for one in shown.cells} == {"undecided"}
    assert [one.pair.base.cell.pattern for one in shown.moved] == ["memcpy"]
    assert judged(both(10_000, 11_000), both(10_000, 10_000, pattern="memcpy")).verdict == "slower"


def test_a_library_whose_messages_between_hosts_take_longer_is_slower() -> None:
    """The empty messages of a condition are the library's own, so that they are no other distance."""
    slower = {"mpich": 1.0, "openmpi": 1.3}
    cells = [cell("pingpong", size=8, mpi=mpi) for mpi in slower]
    visits = [
        msgspec.structs.replace(one, path_ns=[20_000.0 * slower[one.cell.mpi]] * 2)
        for one in measured(cells, NUMBERS, lambda of, _: [round(40_000 * slower[of.mpi])] * 5)
    ]
    found = rows(result_of(campaign(*cells), *launches_of(cells, NUMBERS), *visits))
    assert [one.verdict for one in judged(found).cells] == ["slower"]


def test_eager_limits_of_jobs_are_not_named_by_a_mode_that_all_have() -> None:
    """It was `4016 B with standard, 65456 B with standard`."""
    found = [eager(limit, transport=transport) for transport, limit in (("shm", 4016), ("tcp", 65456))]
    cells = [cell(size=8, transport=way, mode=mode) for way in ("shm", "tcp") for mode in MODES]
    result = result_of(
        campaign(*(one.cell for one in found), *cells),
        *launches_of(cells, NUMBERS),
        *found,
        *measured(cells, NUMBERS, lambda *_: [9]),
    )
    shown, _ = comparison_of(
        compare_sources(Query(KINDS["compare"], [source_of(result, "median")], by="mode"))
    )
    (said,) = (line.text for line in shown.foot if isinstance(line, Line) and line.text.startswith("eager"))
    assert said == "eager limit: 4016 B with shm, 65456 B with tcp"


def test_eager_limits_of_two_libraries_are_named_beside_the_verdict() -> None:
    """It was `no number of a library is on both sides`, and the limits were on no screen of compare."""
    limits = {"mpich": 16304, "openmpi": 8112}
    found = [eager(limit, mpi=mpi) for mpi, limit in limits.items()]
    probes = [one.cell for one in found]
    copies = [cell("memcpy", mode="copy", mpi=mpi) for mpi in limits]
    plan = campaign(*probes, *copies)
    result = result_of(
        plan, *launches_of(probes, NUMBERS), *found, *measured(copies, NUMBERS, lambda *_: [9])
    )
    compared = compare_sources(Query(KINDS["compare"], [source_of(result, "median")], by="mpi"))
    shown, _ = comparison_of(compared)
    (said,) = (line.text for line in shown.foot if isinstance(line, Line) and line.text.startswith("eager"))
    assert said == "eager limit: 16304 B with MPICH 5.0.11, 8112 B with Open MPI 5.0.11"
    assert shown.head[0] == "undecided: no time of a library is on both sides"
    assert '"limit_bytes": 8112' in json.render(shown)


def test_launches_of_other_times_never_say_slower() -> None:
    base, other = (rows_with({("mpich", size): time for size in SIZES}) for time in (10_000.0, 12_000.0))
    shown = compare(pairs_between(base, other), USUAL)
    assert shown.verdict == "undecided"
    assert not shown.interleaved
    assert all(one.decision is not None and one.decision.low > 1.1 for one in shown.cells)
    assert compare(pairs_between(base, base), USUAL).verdict == "undecided"


@pytest.mark.parametrize(("by", "value"), [("mode", "O0"), ("buffers", "cold")])
def test_another_copy_is_no_control(by: str, value: str) -> None:
    """A copy that is compiled otherwise, or of other memory, may take as long as it likes."""
    first = cell("copy", mode="O3")
    cells = [first, msgspec.structs.replace(first, **{by: value})]
    visits = measured(cells, NUMBERS, lambda of, _: [1000 if of == first else 1500] * 5)
    found = rows(result_of(campaign(*cells), *launches_of(cells, NUMBERS), *visits))
    shown = compare(pairs_by(found, by), USUAL)
    assert ([one.verdict for one in shown.cells], shown.controls) == (["slower"], ())


TIMES_NS = {"near": 1_000, "mid": 2_000, "far": 5_000}


def of_two_states(course: list[list[str]], slower: float) -> Comparison:
    """Two libraries on a machine that is near or far; the second takes longer by a factor."""
    cells = [cell("pingpong", size=size, mpi=mpi) for mpi in ("mpich", "openmpi") for size in SIZES]
    own = np.random.default_rng(15)
    visits = in_states(
        cells,
        course,
        lambda of, state, _: (
            [round(TIMES_NS[state] * own.normal(1, 0.01) * (slower if of.mpi == "openmpi" else 1))] * 5
        ),
    )
    found = rows(
        result_of(campaign(*cells), *launches_of(cells, range(1, len(course) + 1)), *visits), choice="all"
    )
    assert {row.state for row in found} == {"near", "far"}
    return judged(found)


@pytest.mark.parametrize(
    ("course", "decided"),
    [
        ([["near"], ["far"]] * 6, {"near", "far"}),
        ([["near", "near", "far", "far"]] * 8, {"near", "far"}),
        ([["near"] * 2 + ["far"] * 2, ["far"] * 4] * 4, {"far"}),
    ],
)
def test_each_state_has_its_own_numbers(course: list[list[str]], decided: set[str]) -> None:
    """One that was too rare for a verdict keeps nobody from passing."""
    equal, slower = of_two_states(course, 1.0), of_two_states(course, 1.1)
    assert (equal.verdict, slower.verdict) == ("same", "slower")
    for shown in (equal, slower):
        assert {(one.pair.of.state, one.pair.cell.bytes) for one in shown.cells} == {
            (state, size) for state in ("near", "far") for size in SIZES
        }
        assert {one.pair.of.state for one in shown.cells if one.decision} == decided
    ratios = [one.decision.estimate for one in slower.cells if one.decision]
    assert ratios == pytest.approx([1.1] * len(ratios), rel=0.01)


def test_states_share_the_error_of_a_comparison() -> None:
    """Each has families of its own; two of them together are wrong no more often than one."""
    course = [["near", "near", "far", "far"]] * 8
    shown = of_two_states(course, 1.0)
    assert shown.thresholds.families == 2
    assert shown.thresholds.shared_level == USUAL.level / 2


def test_an_odd_episode_costs_its_own_visits_and_no_more() -> None:
    """Ranks that wait for a core tell little of where they are; they were where the machine mostly was."""
    cells = [cell("pingpong", size=size, mpi=mpi) for mpi in ("mpich", "openmpi") for size in SIZES]
    visits = in_states(
        cells,
        [["far"] * 4] * 5 + [["far", "far", "far", "near"]],
        lambda of, state, number: [TIMES_NS[state] * (3 if of.mpi == "openmpi" else 1) + number] * 5,
    )
    waiting = [
        msgspec.structs.replace(one, line_ns=[]) if one.cell.mpi == "openmpi" and one.launch > 1 else one
        for one in visits
    ]
    shown = judged(rows(result_of(campaign(*cells), *launches_of(cells, range(1, 7)), *waiting)))
    assert {(one.pair.of.state, one.verdict) for one in shown.cells} == {("far", "slower")}
    assert {one.decision.launches for one in shown.cells if one.decision} == {6}


@pytest.mark.parametrize("unknown", ["mpich", "openmpi"])
def test_ranks_of_no_known_state_go_with_those_of_any(unknown: str) -> None:
    """Nothing is held against what is not known: those of the other are all of one state."""
    cells = [cell("pingpong", size=size, mpi=mpi) for mpi in ("mpich", "openmpi") for size in SIZES]
    visits = in_states(
        cells,
        [["far", "far"]] * 9 + [["near", "near"]],
        lambda of, state, number: [TIMES_NS[state] * (2 if of.mpi == "openmpi" else 1) + number] * 5,
    )
    known = [msgspec.structs.replace(one, line_ns=[]) if one.cell.mpi == unknown else one for one in visits]
    shown = judged(rows(result_of(campaign(*cells), *launches_of(cells, range(1, 11)), *known)))
    assert {(one.pair.of.state, one.verdict) for one in shown.cells} == {("far", "slower")}


def of_a_restless_machine(slower: float, launches: int, seed: int) -> Comparison:
    """The same, where each launch of either library is in a state of its own, near in half of them."""
    chance = np.random.default_rng(seed)
    sides = {mpi: [cell("pingpong", size=size, mpi=mpi) for size in SIZES] for mpi in ("mpich", "openmpi")}
    visits = [
        one
        for mpi, cells in sides.items()
        for one in in_states(
            cells,
            [[str(chance.choice(["near", "near", "mid", "far"]))] for _ in range(launches)],
            lambda of, state, _: (
                [round(TIMES_NS[state] * chance.normal(1, 0.01) * (slower if of.mpi == "openmpi" else 1))] * 5
            ),
        )
    ]
    cells = [one for mine in sides.values() for one in mine]
    known = launches_of(cells, range(1, launches + 1))
    found = rows(result_of(campaign(*cells), *known, *visits), choice="all")
    return compare(pairs_by(found, "mpi"), USUAL, controlled=False)


@pytest.mark.truth
def test_a_restless_machine_is_compared_where_both_were_in_one_state() -> None:
    """Where the machine changes so often that few pairs are alike: equals pass, what is slower is found."""
    times = 60
    equal = [of_a_restless_machine(1.0, 10, seed) for seed in range(times)]
    slower = [of_a_restless_machine(1.1, 10, seed) for seed in range(times)]
    chosen = [number for number, shown in enumerate(equal) if any(one.decision for one in shown.cells)]
    assert len(chosen) > times / 4
    blamed = [number for number in chosen if equal[number].verdict == "slower"]
    assert len(blamed) <= 0.05 * len(chosen) + 2
    found = [one for number in chosen for one in slower[number].cells if one.decision]
    assert sum(one.verdict == "slower" for one in found) >= 0.95 * len(found)
    assert [one.decision.estimate for one in found if one.decision] == pytest.approx(
        [1.1] * len(found), rel=0.05
    )


def test_launches_that_are_never_alike_ask_for_more_of_them() -> None:
    """Five of each would do in one state; these were in two, and `--launches 10` would do no better."""
    shown = next(
        shown
        for seed in range(60)
        for shown in [of_a_restless_machine(1.1, 6, seed)]
        if not any(one.decision for one in shown.cells)
    )
    (said,) = notes(shown)
    assert said.startswith("too few launches in like states: ")
    assert " a verdict takes 5 of both sides in one state: " in said
    assert int(said.split()[-1]) > 6 * 5 / 4


def test_ranks_that_were_elsewhere_need_no_more_launches() -> None:
    """Ten launches are enough; these were never equally far apart, and more of them would not be, either."""
    cells = [cell(mpi=mpi) for mpi in ("mpich", "openmpi")]
    near, far = (
        [*measured([of], range(1, 11), lambda *_: [50_000] * 3, line_ns=[line_ns, line_ns])]
        for of, line_ns in zip(cells, (40.0, 245.0), strict=True)
    )
    shown = judged(rows(result_of(campaign(*cells), *launches_of(cells, range(1, 11)), *near, *far)))
    assert {verdict_of(one) for one in shown.cells} == {"ranks elsewhere"}
    (said,) = notes(shown)
    assert said.startswith("ranks elsewhere: 1; ")


def test_few_launches_say_nothing() -> None:
    few = rows_with({("mpich", 8): 1e4, ("openmpi", 8): 2e4}, launches=range(1, LAUNCHES_OF_A_VERDICT))
    (one,) = judged(few).cells
    assert one.decision is None
    assert one.verdict == "undecided"
    assert judged(few).verdict == "undecided"


def test_of_a_state_that_was_rare_more_launches_than_were_made_are_asked_for() -> None:
    cells, course = [cell("pingpong", size=8)], [["near"]] * 6 + [["far"]] * 3
    visits = in_states(cells, course, lambda _, state, number: [round(TIMES_NS[state]) + number] * 5)
    found = rows(result_of(campaign(*cells), *launches_of(cells, range(1, 10)), *visits), choice="all")
    (few,) = [one for row in found for one in row.warnings if one.kind == "few-launches"]
    assert (few.values["launches"], few.values["made"]) == (3, 9)
    assert "--launches 18" in words_of(few).text


def test_launches_that_were_made_are_not_asked_for() -> None:
    few, many = range(1, LAUNCHES_OF_A_VERDICT), range(1, 11)
    times = {("mpich", 8): 1e4, ("openmpi", 8): 2e4}
    short = rows_with(times, launches=few)
    (asked,) = [line for line in notes(judged(short)) if line.startswith("too few launches")]
    assert asked.endswith("a verdict takes 5 at least: --launches 10")
    long = rows_with({("mpich", 64): 1e4, ("openmpi", 64): 1e4}, launches=many)
    (made,) = [line for line in notes(judged(short, long)) if line.startswith("too few launches")]
    assert made.endswith("a verdict takes 5 at least; 10 were made, of which the others gave no times here")


def test_two_results_may_differ_in_their_library_as_a_whole() -> None:
    base = rows_with({("mpich", 8): 1e4})
    other = rows_with({("openmpi", 8): 1e4, ("openmpi", 64): 1e4})
    (pair,) = pairs_between(base, other)
    assert pair.other.cell.mpi == "openmpi"
    assert not pairs_between(base, rows_with({("openmpi", 8): 1e4, ("intelmpi", 8): 1e4}))


def test_what_has_another_base_says_so() -> None:
    """Of two patterns without a common mode each is held against the first of its own."""
    cells = [
        cell(pattern, mode=mode)
        for pattern, mode in [
            ("bcast", "blocking"),
            ("bcast", "halves"),
            ("reduce", "reduce-scatter"),
            ("reduce", "halves"),
        ]
    ]
    visits = measured(cells, NUMBERS, lambda *_: [10_000, 10_010, 9_990])
    pairs = pairs_by(rows(result_of(campaign(*cells), *launches_of(cells, NUMBERS), *visits)), "mode")
    shown, factors = compare(pairs, USUAL), frozenset({"mode"})
    assert sides_of(pairs, factors) == "halves against blocking or reduce-scatter"
    said = side_namer(shown.cells, factors)
    assert [said(one) for one in shown.cells] == [
        "halves against blocking",
        "halves against reduce-scatter",
    ]
    one = compare(pairs[:1], USUAL).cells
    assert side_namer(one, factors)(one[0]) == ""


def test_neighbouring_sizes_are_told_as_one() -> None:
    shown = judged(both(10_000, 11_000, 10_000, 11_500, 12_000))
    along = frozenset({"mpi", "mpi_version", "bytes", "window"})
    slower = [run for run in runs_of(shown.cells, along) if run.verdict == "slower"]
    assert [len(run.cells) for run in slower] == [1, 2]
    several = slower[1]
    assert several.worst.pair.base.cell.bytes == 4096
    assert several.number is not None
    assert several.number.estimate == pytest.approx(math.sqrt(1.15 * 1.2), rel=0.02)
    assert several.time_s(1) == pytest.approx(math.sqrt(11.5 * 12) * 0.5e-6, rel=0.02)
    (alone,) = [run for run in runs_of(shown.cells, along, ()) if run.worst.pair.base.cell.bytes == 4096]
    assert (alone.number, alone.piece) == (alone.worst.decision, None)


def test_what_is_not_finite_is_null_for_programs() -> None:
    """Launches that differ by a factor of a million: no one can say what would be missed."""
    chance = np.random.default_rng(14)
    wild = {("mpich", 8): 1e4, ("openmpi", 8): 1e4}
    cells = [cell("pingpong", size=size, mpi=mpi) for mpi, size in wild]
    visits = measured(cells, NUMBERS, lambda *_: [round(10 ** chance.uniform(1, 17))] * 5)
    shown = judged(rows(result_of(campaign(*cells), *launches_of(cells, NUMBERS), *visits)))
    text = json.render(document(shown, shown.verdict, frozenset({"mpi"}), Units(), "one against another"))
    assert "Infinity" not in text
    assert "NaN" not in text
    assert shown.verdict == "undecided"


@pytest.mark.parametrize(
    ("kind", "verdict", "word"), [("crash", "slower", "lost"), ("", "undecided", "not measured")]
)
def test_a_cell_that_crashed_is_lost_and_one_without_time_is_not(kind: str, verdict: str, word: str) -> None:
    """What there was no time for says nothing of a library."""
    found = both(10_000, 10_000)
    base, other = found
    gone = replace(other, time=None, status="failed" if kind else "skipped")
    shown = judged([base, gone])
    (one,) = shown.cells
    assert (shown.verdict, verdict_of(one)) == (verdict, word)
    assert headline(shown, shown.verdict).startswith("lost: 1 of 1" if kind else "undecided")
    if not kind:
        assert headline(shown, shown.verdict) == (
            "undecided: 1 of 1 numbers are not measured on one side; "
            "0 slower, 0 faster, 0 the same, 0 undecided, 1 not measured"
        ), "what may be slower is counted as undecided, and no other"


def disturbed(factor: float, spread: float) -> Comparison:
    """The first of some sizes is 10 % slower, and launch 7 of one library is disturbed."""
    cells = [cell(size=size, mpi=mpi) for mpi in ("mpich", "openmpi") for size in SIZES]
    chance = np.random.default_rng(5)

    def samples_ns(of: Cell, number: int) -> list[int]:
        slower = 1.1 if of.mpi == "openmpi" and of.bytes == SIZES[0] else 1.0
        odd = factor if of.mpi == "openmpi" and number == 7 else 1.0
        return [round(1e6 * slower * odd * np.exp(spread * chance.normal()))] * 5

    numbers = range(1, 11)
    result = result_of(campaign(*cells), *launches_of(cells, numbers), *measured(cells, numbers, samples_ns))
    return judged(rows(result))


def test_a_launch_that_is_odd_by_less_than_the_margin_is_nobodys_concern() -> None:
    assert disturbed(1.02, 0.001).odd_launches == ()
    assert disturbed(1.05, 0.001).odd_launches


def test_a_launch_that_is_odd_in_several_cells_is_named_once_and_hides_nothing() -> None:
    shown = disturbed(1.5, 0.01)
    assert [one.verdict for one in shown.cells] == ["slower", "same", "same", "same"]
    (odd,) = shown.odd_launches
    assert (odd.launch, odd.cells, odd.of) == (7, len(SIZES), len(SIZES))
    assert odd.factor == pytest.approx(1.5, rel=0.05)
    (said,) = [text for text in notes(shown) if "odd" in text]
    assert said.startswith(f"launch 7 is odd in {len(SIZES)} of {len(SIZES)} numbers (1.")
