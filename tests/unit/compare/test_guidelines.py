"""Guidelines on simulated launches: what is planted is found and named, and equals are not blamed."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from mpigauge.compare.guideline_table import document, headline
from mpigauge.compare.guidelines import MAX_PAIRS, USUAL, check
from mpigauge.compare.sides import paired_family
from mpigauge.document.document import Units
from mpigauge.rows.rows import rows
from mpigauge.rows.warnings import Warning as Doubt
from mpigauge.show.formats import json, text
from mpigauge.stats.decision import decide
from tests.made import PATTERNS, campaign, cell, collective, launches_of, measured, result_of, together

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from mpigauge.compare.guidelines import Guidelines
    from mpigauge.plan.model import Cell
    from mpigauge.rows.rows import Row
    from mpigauge.stats.decision import Decision

SIZES = (8, 64, 512, 4096)
LAUNCHES = range(1, 11)
TRIALS = 20
KNOWN = {pattern.name: pattern for pattern in PATTERNS}
MODES = ("blocking", "nonblocking", "reduce-bcast", "reduce-scatter-allgather", "halves", "eighths")
SUITE = ("bcast", "reduce", "allreduce", "reduce_scatter_block", "gather", "scatter", "allgather", "alltoall")


def linear(of: Cell) -> float:
    """What keeps all guidelines: every mode alike, and more bytes take longer."""
    return 10_000 + 2 * of.bytes


def rows_of(
    time_ns: Callable[[Cell], float],
    sizes: Iterable[int] = SIZES,
    modes: Iterable[str] = MODES,
    launches: range = LAUNCHES,
    spread: float = 0.02,
    seed: int = 1,
    skew_ns: int = 5,
) -> list[Row]:
    """Rows of an allreduce."""
    cells = [collective(size=size, mode=mode) for mode in modes for size in sizes]
    return rows_of_cells(cells, time_ns, launches, spread, seed, skew_ns)


def rows_of_cells(
    cells: list[Cell],
    time_ns: Callable[[Cell], float],
    launches: range = LAUNCHES,
    spread: float = 0.02,
    seed: int = 1,
    skew_ns: int = 5,
) -> list[Row]:
    """Launches differ as a whole, and each cell in each by so much."""
    chance = np.random.default_rng(seed)
    common = {number: chance.normal(1, 0.02) for number in launches}

    def samples_ns(of: Cell, number: int) -> list[int]:
        return [round(time_ns(of) * common[number] * chance.normal(1, spread))] * 5

    visits = [
        together(one.launch, one.id, one.cell, list(one.samples_ns), skew_ns=[skew_ns] * 5)
        for one in measured(cells, launches, samples_ns)
    ]
    return rows(result_of(campaign(*cells), *launches_of(cells, launches), *visits))


def checked(*found: Row) -> Guidelines:
    return check(found, KNOWN)


def violated(shown: Guidelines) -> set[tuple[str, str, int, str]]:
    return {
        (one.kind, one.pair.other.cell.mode, one.pair.other.cell.bytes, one.pair.base.cell.mode)
        for one in shown.violated
    }


def slower(factor: float, sizes: Iterable[int], mode: str = "reduce-bcast") -> Callable[[Cell], float]:
    """This mode is faster than all others by a factor, at some sizes."""
    return lambda of: linear(of) / (factor if of.mode == mode and of.bytes in sizes else 1.0)


def test_a_slow_operation_is_found_where_it_is_and_what_is_faster_is_named() -> None:
    shown = checked(*rows_of(slower(1.3, SIZES[1:3])))
    assert violated(shown) == {("mock-up", "blocking", size, "reduce-bcast") for size in SIZES[1:3]}
    assert shown.verdict == "slower"
    for one in shown.violated:
        assert one.decision is not None
        assert 1.05 < one.decision.low < 1.3 < one.decision.high < 1.6
        saved = one.saved_s
        assert saved is not None
        true_s = linear(one.pair.other.cell) * (1 - 1 / 1.3) * 1e-9
        assert saved[1] < true_s < saved[2]


@pytest.mark.truth
def test_equals_are_blamed_in_no_more_than_one_of_twenty() -> None:
    trials = [checked(*rows_of(linear, seed=seed)) for seed in range(40)]
    assert sum(shown.verdict == "slower" for shown in trials) <= 2
    assert sum(shown.verdict == "same" for shown in trials) >= 36


@pytest.mark.truth
def test_of_noisy_equals_nothing_is_said() -> None:
    trials = [checked(*rows_of(linear, spread=0.2, seed=seed)) for seed in range(20)]
    assert sum(bool(shown.violated) for shown in trials) <= 2
    assert sum(shown.verdict == "undecided" for shown in trials) >= 18


def test_fewer_bytes_that_take_longer_are_found_once_for_a_curve() -> None:
    shown = checked(*rows_of(lambda of: linear(of) * (3 if of.bytes == 64 else 1), modes=("blocking",)))
    assert {(one.kind, one.pair.other.cell.bytes) for one in shown.violated} == {("monotony", 64)}
    assert len(shown.violated) == 1


def test_a_slow_rise_is_seen_beyond_its_neighbours() -> None:
    """Each size takes 4 % less than the one before: no neighbours differ by the margin, the ends do."""
    falling = {size: 20_000 * 0.96**place for place, size in enumerate(SIZES)}
    shown = checked(*rows_of(lambda of: falling[of.bytes], modes=("blocking",), spread=0.005))
    (one,) = shown.violated
    assert (one.pair.other.cell.bytes, one.pair.base.cell.bytes) == (8, 4096)


def test_a_message_that_takes_longer_than_its_parts_is_found() -> None:
    shown = checked(*rows_of(slower(1.5, (4096,), "eighths")))
    (one,) = shown.violated
    assert (one.kind, one.pair.other.cell.bytes, one.parts) == ("split", 4096, 8)
    assert one.decision is not None
    assert one.decision.estimate == pytest.approx(1.5, rel=0.05)
    said = text.render(document(shown, Units()))
    assert said.splitlines()[1].startswith("allreduce, 4 KiB: takes 1.")
    assert "times as long as in 8 parts: saves" in said


def test_parts_are_measured_and_never_computed() -> None:
    """Of an eighth of the bytes that takes a hundredth nothing follows: nobody has called it eight times."""
    shown = checked(*rows_of(lambda of: {512: 1000, 4096: 100_000}.get(of.bytes, 500), modes=("blocking",)))
    assert {one.kind for one in shown.checked} == {"monotony"}
    assert not shown.violated


def test_less_than_starts_and_clock_tell_apart_is_no_violation() -> None:
    found = rows_of(slower(1.3, SIZES), skew_ns=5000)
    shown = checked(*found)
    assert not shown.violated
    assert shown.verdict == "undecided"
    assert all(one.guard_s >= 5e-6 for one in shown.checked)


def test_it_fails_closed() -> None:
    alone = checked(*rows_of(linear, modes=("blocking",)))
    assert (alone.verdict, alone.replaceable) == ("undecided", False)
    assert "--suite guidelines" in headline(alone)
    assert checked().verdict == "undecided"
    few = checked(*rows_of(slower(2, SIZES), launches=range(1, 4)))
    assert (few.verdict, len(few.violated)) == ("undecided", 0)
    assert all(one.decision is None for one in few.checked)


def test_what_was_not_measured_keeps_the_rest_from_passing() -> None:
    cells = [collective(size=size, mode=mode) for mode in MODES for size in SIZES]
    visits = measured(cells[:-1], LAUNCHES, lambda of, _: [round(linear(of))] * 5, lead_ns=4000)
    shown = checked(*rows(result_of(campaign(*cells), *launches_of(cells, LAUNCHES), *visits)))
    assert shown.verdict == "undecided"
    assert [one.pair.base.time for one in shown.open] == [None]


@pytest.mark.truth
def test_several_better_ways_are_told_without_the_luck_of_the_choice() -> None:
    fast: Mapping[str, float] = {"reduce-bcast": 1.4, "reduce-scatter-allgather": 1.4}
    trials = [
        checked(*rows_of(lambda of: linear(of) / fast.get(of.mode, 1.0), sizes=(64,), seed=seed))
        for seed in range(30)
    ]
    best = [one for shown in trials for one in shown.best]
    assert len(best) >= 28
    assert sum(one.low <= 1.4 <= one.high for one in best) >= 0.9 * len(best)


def test_sentences_say_where_how_much_and_what_is_saved() -> None:
    shown = checked(*rows_of(slower(1.5, SIZES[1:3])))
    said = text.render(document(shown, Units()))
    first, second, *_ = said.splitlines()
    assert first.startswith("violated: 2 of ")
    assert second.startswith("allreduce, 64 B to 512 B: takes up to 1.")
    assert "times as long as reduce-bcast: saves 3." in second
    assert "per call at" in second
    assert "NaN" not in json.render(document(shown, Units(), everything=True))
    kept = checked(*rows_of(linear))
    assert text.render(document(kept, Units())).startswith("kept: none of ")


@pytest.mark.truth
def test_of_very_many_sizes_some_are_left_out_and_said() -> None:
    shown = checked(*rows_of(linear, sizes=range(8, 8 * 71, 8), modes=("blocking",), launches=range(1, 7)))
    assert MAX_PAIRS * 0.9 < len(shown.checked) <= MAX_PAIRS
    assert shown.left_out == 7
    assert "7 sizes left out" in text.render(document(shown, Units()))


# ---- More ranks ----------------------------------------------------------------------------------


def of_ranks(
    two: float, counts: Iterable[int] = (2, 4), pattern: str = "bcast", cores: int = 64, **more: object
) -> Guidelines:
    """Checked, where time goes with the ranks, but that of two is so many times as long."""
    cells = [
        collective(pattern, size, mode=mode, ranks=ranks, **more)
        for ranks in counts
        for mode in ("blocking", "nonblocking", "allgatherv")
        for size in SIZES
    ]
    found = rows_of_cells(cells, lambda of: linear(of) * of.ranks * (two if of.ranks == min(counts) else 1))
    crowded = (Doubt("oversubscribed", {"cores": cores}),)
    return checked(*(replace(row, warnings=crowded if row.cell.ranks > cores else ()) for row in found))


def test_fewer_ranks_that_take_longer_than_more_are_found() -> None:
    shown = of_ranks(3)
    assert {one.kind for one in shown.violated} == {"ranks"}
    assert {one.pair.other.cell.mode for one in shown.violated} == {"blocking"}
    assert [one.pair.other.cell.bytes for one in shown.violated] == list(SIZES)
    said = text.render(document(shown, Units()))
    assert said.splitlines()[1].startswith("bcast, 2 ranks, 8 B to 4 KiB: takes up to 1.")
    assert "times as long as with 4 ranks" in said
    assert not of_ranks(1).violated


def test_of_several_numbers_of_ranks_the_clearest_pair_is_told_for_each_size() -> None:
    shown = of_ranks(6, (2, 3, 8))
    assert {(one.pair.other.cell.ranks, one.pair.base.cell.ranks) for one in shown.violated} == {(2, 3)}
    assert len(shown.violated) == len(SIZES)


def test_ranks_that_share_cores_are_held_against_none() -> None:
    assert "ranks" in {one.kind for one in of_ranks(3, cores=4).checked}
    assert "ranks" not in {one.kind for one in of_ranks(3, cores=3).checked}


def test_ranks_that_are_placed_otherwise_are_held_against_none() -> None:
    cells = [
        collective("bcast", 64, ranks=ranks, placement=where)
        for ranks, where in ((2, "same-host"), (4, "different-hosts"))
    ]
    assert not checked(*rows_of_cells(cells, linear)).checked


def test_messages_between_two_ranks_do_not_depend_on_how_many_there_are() -> None:
    cells = [cell("pingpong", 64, ranks=ranks) for ranks in (2, 4)]
    assert not checked(*rows_of_cells(cells, lambda of: 1000 * (5 - of.ranks))).checked


# ---- One error for all ---------------------------------------------------------------------------


def suite(time_ns: Callable[[Cell], float], seed: int, spread: float) -> Guidelines:
    """Eight collectives in all modes that something is held against, at three sizes."""
    modes = [(name, mode) for name in SUITE for mode in KNOWN[name].guided]
    cells = [collective(name, size, mode=mode) for name, mode in modes for size in SIZES[1:]]
    return checked(*rows_of_cells(cells, time_ns, spread=spread, seed=seed))


def by_operation(shown: Guidelines) -> list[Decision]:
    """What would be said if every operation had an error of its own."""
    families = defaultdict(list)
    for one in shown.checked:
        families[one.pair.other.cell.pattern, one.kind].append(one.pair)
    return [one for family in families.values() for one in decide(paired_family(family), USUAL)]


@pytest.mark.truth
def test_a_whole_suite_that_keeps_all_guidelines_is_blamed_in_one_of_twenty() -> None:
    """However many they are; had each operation an error of its own, it would be in many more."""
    trials = [suite(linear, seed, spread=0.1) for seed in range(TRIALS)]
    assert min(len(shown.checked) for shown in trials) > 180
    blamed = sum(bool(shown.violated) for shown in trials)
    assert blamed <= 3
    apart = [any(one.verdict == "slower" for one in by_operation(shown)) for shown in trials]
    assert sum(apart) > blamed


@pytest.mark.truth
def test_what_one_of_a_whole_suite_breaks_is_found() -> None:
    def planted(of: Cell) -> float:
        return linear(of) / (1.2 if (of.pattern, of.mode, of.bytes) == ("gather", "gatherv", 512) else 1.0)

    for seed in range(6):
        (one,) = suite(planted, seed, spread=0.02).violated
        assert (one.pair.other.cell.pattern, one.pair.base.cell.mode) == ("gather", "gatherv")
