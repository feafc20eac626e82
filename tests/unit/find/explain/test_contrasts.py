"""Two curves that differ in one thing: runs of sizes, differences in time, and limits that explain them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from mpigauge.compare import size_ratio
from mpigauge.document.cell_names import varied_in
from mpigauge.find.explain import contrasts
from mpigauge.find.explain.topics import conclusions
from mpigauge.rows.ratios import TimePair, compared, judged_together, verdict_of
from mpigauge.vocabulary import DIFFERENT
from tests.made import cell, collective, eager
from tests.unit.find.explain.informative import facts, sentence, told_of
from tests.unit.find.explain.made_evidence import evidence as made
from tests.unit.find.explain.test_eager_limits import LIMIT, line
from tests.unit.find.explain.test_lab_truth import LAB
from tests.unit.find.explain.test_send_modes import HANDSHAKE_NS, synchronous
from tests.unit.rows.test_baselines import timed

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpigauge.plan.model import Cell
    from mpigauge.result.records import Eager
    from mpigauge.rows.machine.conditions import Distances
    from mpigauge.rows.rows import Row
    from mpigauge.stats.decision import Ratio
    from mpigauge.stats.percentiles import Values


SIZES = (8, 64, 512, 4096, 2**15, 2**18)
MPICH = {"mpi": "mpich", "mpi_version": "5.0.2"}


def two_modes(ratios: dict[int, float]) -> dict[Cell, float]:
    """Times of two modes by size, of which one is so many times the other."""
    return {
        cell(size=size, mode=mode): (500 + size) * (ratios.get(size, 1.0) if mode == "buffered" else 1.0)
        for size in SIZES
        for mode in ("standard", "buffered")
    }


def test_a_difference_in_the_middle_is_not_hidden_by_the_ends() -> None:
    evidence = told_of(two_modes({64: 1.2, 512: 1.2}), noise=0.005)
    (fact,) = facts(contrasts.modes, evidence)
    found = [(run.verdict, [one.bytes for one in run.at]) for run in fact.runs]
    assert found == [("same", [8]), ("slower", [64, 512]), ("same", [4096, 2**15, 2**18])]
    said = sentence("mode", fact, evidence)
    assert said.startswith("pingpong: MPI_Bsend takes on average 20 % ")
    alike = "no difference (within 3 %) at 8 B and from 4 KiB on"
    assert f" longer than MPI_Send from 64 B to 512 B; {alike}; " in said


def test_a_distance_that_vanishes_as_a_ratio_is_told_in_time() -> None:
    """20 µs more at every size: a large ratio at 8 B, next to none at 256 KiB, and always 20 µs."""
    near, far = {"placement": "h1,h2"}, {"placement": "h1,h3"}
    times = {
        cell(size=size, **place): 10_000 + extra + size
        for size in SIZES
        for place, extra in ((near, 0), (far, 20_000))
    }
    evidence = told_of(times, noise=0.001)
    (fact,) = facts(contrasts.places, evidence)
    assert fact.points[0].ratio.estimate == pytest.approx(3, rel=0.01)
    assert fact.points[-1].ratio.estimate < 1.1
    for one in fact.points:
        assert one.low_s < 20e-6 < one.high_s or one.extra_s == pytest.approx(20e-6, rel=0.1)
    said = sentence("place", fact, evidence)
    assert "no difference" not in said
    assert len(re.findall(r"\(\+(?:20\.0|19\.9|20\.1) µs\)", said)) == len(fact.pieces) - 1


def test_the_base_of_places_is_the_nearest_whatever_comes_first() -> None:
    far, near = {"placement": "h1,h3"}, {"placement": "h1,h2"}
    times = {cell(size=8, **place): time for place, time in ((far, 9000), (near, 3000))}
    (fact,) = facts(contrasts.places, told_of(times))
    assert (fact.base.cell.placement, fact.other.placement) == ("h1,h2", "h1,h3")


def test_a_size_from_which_one_is_twice_as_slow() -> None:
    (fact,) = facts(contrasts.modes, told_of(two_modes({4096: 2.3, 2**15: 2.4, 2**18: 2.5})))
    assert fact.twice_from == 4096
    (fact,) = facts(contrasts.modes, told_of(two_modes(dict.fromkeys(SIZES, 3.0))))
    assert fact.twice_from is None


def limited(base: int, other: int) -> tuple[dict[Cell, float], tuple[Eager, ...]]:
    """Two libraries that differ in their eager limits alone; the wait for the receiver takes 10 µs."""
    times: dict[Cell, float] = {}
    for limit, more in ((base, {}), (other, MPICH)):
        times |= {cell(size=size, **more): line(size) + 10_000 * (size > limit) for size in SIZES}
        times |= {cell("eager", 2**22, **more): 0.0}
    return times, (eager(base), eager(other, **MPICH))


def test_a_difference_that_is_nothing_but_an_eager_limit_is_called_so() -> None:
    times, probes = limited(1000, 2**16)
    evidence = told_of(times, *probes, noise=0.002)
    (fact,) = facts(contrasts.libraries, evidence)
    assert (fact.by_limit.base, fact.by_limit.other) == (1000, 2**16)
    said = sentence("library", fact, evidence)
    assert "; only between their eager limits (64 KiB against 1000 B); " in said
    (trips,) = re.findall(r"the wait for the receiver: ([0-9.]+)[^;]* round trips", said)
    assert float(trips) == pytest.approx(5, rel=0.02)


def test_a_difference_elsewhere_is_no_eager_limit() -> None:
    times, probes = limited(1000, 2**16)
    times = {of: time * (1.5 if of.mpi == "mpich" and of.bytes == 8 else 1.0) for of, time in times.items()}
    (fact,) = facts(contrasts.libraries, told_of(times, *probes))
    assert fact.by_limit is None


def test_what_is_known_to_be_small_elsewhere_hides_no_eager_limit() -> None:
    times, probes = limited(1000, 2**16)
    times = {of: time * (1.02 if of.mpi == "mpich" and of.bytes == 8 else 1.0) for of, time in times.items()}
    evidence = told_of(times, *probes, noise=0.002)
    (fact,) = facts(contrasts.libraries, evidence)
    assert fact.by_limit.small_elsewhere
    assert "; beyond 3 % only between their eager limits (" in sentence("library", fact, evidence)


def test_a_difference_whose_cause_is_known_comes_before_one_of_more_sizes() -> None:
    times, probes = limited(1000, 2**16)
    for size in SIZES:
        times |= {
            cell("exchange", size=size): line(size),
            cell("exchange", size=size, **MPICH): 2.5 * line(size),
        }
    found = conclusions(told_of(times, *probes, noise=0.002))
    first = next(one.fact for one in found if one.topic == "library")
    assert isinstance(first, contrasts.Contrast)
    assert first.by_limit is not None


def sent_by(senders: int, pattern: str = "multi-stream", size: int = 65536, **more: object) -> Cell:
    """A cell in which so many ranks of 4 send."""
    window = {"window": 64} if pattern == "multi-stream" else {}
    mode = "unidirectional" if pattern == "multi-stream" else "standard"
    group = ",".join(str(rank) for half in (0, 2) for rank in range(half, half + senders))
    return collective(
        pattern, size, mode, **{"ranks": 4, "senders": senders, "group": group, **window, **more}
    )


def test_more_senders_of_windows_are_told_by_their_rate() -> None:
    evidence = told_of({sent_by(1): 5000.0, sent_by(2): 2500.0}, noise=0.002)
    (fact,) = facts(contrasts.senders, evidence)
    assert fact.points[0].ratio.estimate == pytest.approx(0.5, rel=0.01), "of times, as elsewhere"
    said = contrasts.headline(fact, ())
    assert re.match(r"multi-stream: 2 senders carry 2\.0\d times .*what 1 sender does at 64 KiB", said)
    (rate,) = fact.rates
    assert rate.other_bytes_per_s == pytest.approx(2 * rate.base_bytes_per_s, rel=0.01)
    details = sentence("senders", fact, evidence)
    assert details.startswith(said)
    assert re.search(r"; [0-9.]+ [MG]B/s against [0-9.]+ [MG]B/s at 64 KiB", details)


def test_round_trips_of_more_senders_are_told_by_their_time_in_the_plural() -> None:
    pattern = "multi-pingpong"
    evidence = told_of({sent_by(1, pattern): 1000.0, sent_by(2, pattern): 1500.0}, noise=0.002)
    (fact,) = facts(contrasts.senders, evidence)
    assert fact.rates == ()
    assert re.search(r": 2 senders take 50 % .*longer than 1 sender", contrasts.headline(fact, ()))


def test_senders_in_a_lab_and_on_shared_cores_say_so() -> None:
    cells = [sent_by(number, placement="h1,h1,h2,h2") for number in (1, 2)]
    found = made(cells, lambda of, launch: [10**6 // of.senders + launch] * 40, lab=LAB, cores=2)
    (fact,) = contrasts.senders(found)
    assert (fact.emulated, fact.crowded) == (True, True)
    assert contrasts.sentence(fact, ()).endswith(
        "; over the emulated network of a lab; more ranks than cores"
    )


def test_a_difference_rests_on_the_launches_of_its_ratio() -> None:
    """Of places, too, which a comparison may pair in fewer launches than both were measured in."""

    class InFewer:
        """A comparison that leaves out the first two launches."""

        def launches(self, over: Row, under: Row) -> TimePair:
            assert over.time is not None
            assert under.time is not None
            mine, base = (
                {n: s for n, s in one.by_launch.items() if n > 2} for one in (over.time, under.time)
            )
            return TimePair(mine, base, paired=True)

        def ratio(self, over: Row, under: Row) -> Ratio | None:
            return self.launches(over, under).ratio()

    near, far = cell(size=8, placement="h1,h2"), cell(size=8, placement="h1,h3")
    base, other = told_of({near: 1000.0, far: 3000.0}, noise=0.1).rows
    (point,) = size_ratio.size_ratios([base], [other], same_place=False, within=InFewer())
    assert point.ratio.launches == 6
    assert (point.low_s, point.high_s) == pytest.approx(InFewer().launches(other, base).difference())
    (own,) = size_ratio.size_ratios([base], [other], same_place=False)
    assert own.low_s != point.low_s


def test_labels_and_versions_of_a_library_are_compared_once() -> None:
    times = {cell(size=8, label=label): 500.0 for label in ("main", "pr")}
    assert len(facts(contrasts.libraries, told_of(times))) == 1


def test_modes_that_compute_meanwhile_are_not_compared() -> None:
    assert not facts(contrasts.modes, told_of({cell(size=8): 500.0}))


def test_what_nobody_can_tell_names_the_launches_that_would() -> None:
    evidence = told_of(two_modes(dict.fromkeys(SIZES, 1.01)), noise=0.08)
    (fact,) = facts(contrasts.modes, evidence)
    told = [sentence("mode", fact, evidence), contrasts.headline(fact, varied_in(evidence.rows))]
    numbers = [re.findall(r"about (\d+) launches would tell", text) for text in told]
    assert numbers[0] == numbers[1] != []
    assert fact.launches == 8
    fewer = replace(fact.pieces[0], pooled=replace(fact.pieces[0].pooled, launches=6))
    assert replace(fact, pieces=(fewer,)).launches == 8, "no number of several sizes is told"


def test_a_large_difference_of_few_launches_is_told_with_what_a_verdict_needs() -> None:
    evidence = told_of(two_modes(dict.fromkeys(SIZES, 59.0)), noise=0.05, launches=3)
    (fact,) = facts(contrasts.modes, evidence)
    assert {one.verdict for one in fact.points} == {"undecided"}
    said = sentence("mode", fact, evidence)
    assert re.fullmatch(
        r"pingpong: MPI_Bsend takes on average \S+ times \(.*\) as long as MPI_Send at all 6 sizes; "
        r"a verdict needs 5 launches",
        said,
    )


@pytest.mark.truth
@pytest.mark.parametrize("sizes", [10, 40])
def test_equals_are_called_different_at_some_size_in_one_curve_of_twenty(sizes: int) -> None:
    luck = np.random.default_rng(11)
    wrong = 0
    for _ in range(400):
        logs = luck.normal(0, 0.02, (2, 8, sizes)) + luck.normal(0, 0.02, (2, 8, 1))
        sides = [compared(*_by_launch(np.exp(logs[:, :, size])), paired=True) for size in range(sizes)]
        wrong += any(verdict_of(one) in DIFFERENT for one in judged_together(sides, [0.0] * sizes))
    assert wrong <= 400 * 0.05 + 3 * np.sqrt(400 * 0.05 * 0.95)


def _by_launch(times_s: Values) -> list[dict[int, float]]:
    return [dict(enumerate(side.tolist())) for side in times_s]


def test_a_ratio_is_of_launches_in_like_conditions_and_times_are_those_of_tables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In one launch the ranks of the base sat far apart: left in, its time would turn the difference."""
    near: Distances = dict.fromkeys(range(1, 5), ("line", 50e-9))
    far: Distances = near | {4: ("line", 200e-9)}
    times = {cell(size=64): 1.0, cell(size=64, mode="buffered"): 1.0}
    base, other = (row for row in told_of(times).rows)
    base = replace(base, time=timed({1: 1.00e-6, 2: 1.01e-6, 3: 1.02e-6, 4: 9e-6}))
    other = replace(other, time=timed({1: 1.09e-6, 2: 1.11e-6, 3: 1.13e-6, 4: 1.2e-6}))
    at = {id(base.visits): far, id(other.visits): near}
    monkeypatch.setattr(
        size_ratio, "distances_apart", lambda over, under: (at[id(over.visits)], at[id(under.visits)])
    )
    (point,) = size_ratio.size_ratios([base], [other], same_place=True)
    assert point.ratio.launches == 3
    assert point.ratio.estimate == pytest.approx(1.11 / 1.01, rel=0.01)
    assert (base.time, other.time) != (None, None)
    assert point.low_s is not None
    assert point.beyond_s is not None
    assert 0 < point.low_s < point.beyond_s == pytest.approx(100e-9)


WAITS = "above 2500 B MPI_Send waits for the receiver, MPI_Bsend copies first"


@pytest.mark.parametrize(
    ("extra_ns", "told"),
    [
        (lambda size: -0.8 * HANDSHAKE_NS * (size > LIMIT), True),
        (lambda size: -2.0 * HANDSHAKE_NS * (size > LIMIT), False),
        (lambda size: -0.8 * HANDSHAKE_NS * (size > 8), False),
        (lambda size: HANDSHAKE_NS * ((size > 20_000) - 0.8 * (LIMIT < size < 20_000)), False),
    ],
    ids=["the wait", "more than the wait", "below the limit, too", "slower above"],
)
def test_a_copy_that_is_faster_has_its_reason_where_the_wait_explains_it(
    extra_ns: Callable[[int], float], told: bool
) -> None:
    times = synchronous(waits_above=True)
    usual = {of: time for of, time in times.items() if of.mode == "standard" and of.pattern == "pingpong"}
    times |= {cell(size=of.bytes, mode="buffered"): time + extra_ns(of.bytes) for of, time in usual.items()}
    made = told_of(times, eager(LIMIT), noise=0.003)
    (fact,) = (fact for fact in facts(contrasts.modes, made) if fact.other.mode == "buffered")
    assert any(piece.verdict == "faster" for piece in fact.pieces)
    assert (WAITS in sentence("mode", fact, made)) == told
