"""How often intervals of models cover what was planted, and what they are made of."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.models.hockney import hockney_of, textbook_of
from mpigauge.models.model import Model, Points, models_of
from mpigauge.models.predict import Prediction, predicted
from mpigauge.stats import bootstrap
from mpigauge.stats.bootstrap import Replicates, misfit_beyond_noise, replicates_of, resampled
from mpigauge.stats.limits import PROMISED
from mpigauge.stats.segments import cut
from tests.unit.models.planted_models import ONE_LINE, Machine, sizes_to

if TYPE_CHECKING:
    from mpigauge.stats.interval import Number


@pytest.fixture
def without_stability(monkeypatch: pytest.MonkeyPatch) -> None:
    """That of breaks takes most of the time, and no parameter depends on it."""
    monkeypatch.setattr(bootstrap, "_stability", lambda found, *_: np.zeros(found.count - 1))


def modelled(points: Points) -> Model:
    found = models_of([points])[0]
    assert found is not None
    return found


def holds(number: Number, truth: float) -> bool:
    assert number.low is not None
    return number.holds(truth)


def time_of(told: Prediction) -> Number:
    """The time of one more launch."""
    assert told.launch is not None
    return told.launch


@pytest.mark.truth
@pytest.mark.parametrize(
    "machine",
    [
        Machine(misfit=0.02, sizes=sizes_to(2**24, 32)),
        Machine(common=0.02, own=0.005, sizes=sizes_to(2**24, 32)),
    ],
    ids=["misfit", "common"],
)
@pytest.mark.usefixtures("without_stability")
def test_parameters_are_in_their_intervals(machine: Machine) -> None:
    """Of 95 %: what launches have in common shifts all six of a campaign, so 40 tell no more than this.

    `benchmarks/models.py` makes 200 of each of twelve kinds.
    """
    chance = np.random.default_rng(1)
    covered = []
    for _ in range(40):
        model = modelled(machine.campaign(chance))
        for segment, (_, alpha, beta) in zip(model.segments, machine.segments, strict=True):
            covered += [holds(segment.alpha, alpha), holds(segment.beta, beta)]
    assert 0.88 <= np.mean(covered) <= 1


@pytest.mark.truth
def test_errors_of_parameters_are_as_small_as_their_noise() -> None:
    chance = np.random.default_rng(2)
    machine = Machine()
    models = [cut(one.sizes, one.logs) for one in (machine.campaign(chance) for _ in range(15))]
    alpha, beta = (np.array([getattr(one, name) for one in models]) for name in ("alpha", "beta"))
    _, alphas, betas = zip(*machine.segments, strict=True)
    assert np.median(np.abs(alpha / alphas - 1), axis=0).max() < 0.05
    assert np.median(np.abs(beta / betas - 1), axis=0).max() < 0.02


def test_a_misfit_widens_what_launches_alone_would_promise() -> None:
    chance = np.random.default_rng(3)
    sizes = sizes_to(2**20, 30)
    quiet = Machine(segments=ONE_LINE, sizes=sizes, common=0.002, own=0.002)
    bent = Machine(segments=ONE_LINE, sizes=sizes, common=0.002, own=0.002, misfit=0.04)
    widths = []
    for machine in (quiet, bent):
        alpha = modelled(machine.campaign(chance)).segments[0].alpha
        assert alpha.low is not None
        assert alpha.high is not None
        widths.append(math.log(alpha.high / alpha.low))
    assert widths[1] > 4 * widths[0]


@pytest.mark.truth
@pytest.mark.parametrize(("misfit", "least", "most"), [(0.0, 0.0, 0.5), (0.05, 0.9, 1.0)])
def test_noise_of_launches_is_told_from_a_misfit(misfit: float, least: float, most: float) -> None:
    chance = np.random.default_rng(4)
    machine = Machine(segments=ONE_LINE, misfit=misfit, sizes=sizes_to(2**20, 30))
    shares = []
    for _ in range(20):
        one = machine.campaign(chance)
        found = cut(one.sizes, one.logs)
        errors = one.logs - np.log(found.times(one.sizes))
        shares.append(misfit_beyond_noise(found, one.sizes, errors, resampled(one.launches, chance)))
    assert least <= np.median(shares) <= most


def test_breaks_are_as_stable_as_they_are_large() -> None:
    chance = np.random.default_rng(5)
    (eager, *_) = modelled(Machine().campaign(chance)).breaks
    assert eager.kind == "found"
    assert eager.stability is not None
    assert eager.stability > 0.95
    assert holds(eager.jump, (900e-9 + 4500 / 9e9) / (250e-9 + 4500 / 6e9)) or eager.jump.estimate > 1.3


def test_a_probed_limit_is_a_break_to_the_byte() -> None:
    one = Machine().campaign(np.random.default_rng(6), limits=(4040,))
    first = modelled(one).breaks[0]
    assert (first.kind, first.above, first.upto, first.stability) == ("eager-limit", 4040, 4040, None)


def test_launches_in_another_order_are_the_same_campaign() -> None:
    one = Machine().campaign(np.random.default_rng(7))
    other = Points(one.sizes, one.logs, one.launches[::-1])
    first, second = (modelled(points).segments[0] for points in (one, other))
    assert first.alpha.estimate == second.alpha.estimate
    assert first.alpha.high == pytest.approx(second.alpha.high, rel=0.01)


@pytest.mark.parametrize("launches", [0, 1])
def test_too_few_launches_have_no_intervals(launches: int) -> None:
    one = Machine().campaign(np.random.default_rng(8))
    model = modelled(Points(one.sizes, one.logs, one.launches[:launches]))
    assert model.replicates is None
    assert model.segments[0].alpha.low is None
    assert {each.kind for each in model.breaks} == {"possible"}
    assert time_of(predicted(model, 3000)).low is None
    assert hockney_of(model).rate.low is None


def test_launches_that_lack_a_size_count_where_they_have_one() -> None:
    one = Machine().campaign(np.random.default_rng(9))
    one.launches[3, 5:9] = np.nan
    logs = np.nanmean(one.launches, axis=0)
    found = replicates_of(one.sizes, logs, one.launches, cut(one.sizes, logs))
    assert found is not None
    assert np.isfinite(found.alpha).all()


# ---- Two parameters, one line, predictions -------------------------------------------------------


def test_one_line_has_parameters_and_several_have_none() -> None:
    chance = np.random.default_rng(10)
    one = hockney_of(modelled(Machine(segments=ONE_LINE).campaign(chance)))
    assert not one.apparent
    assert one.n_half is not None
    assert one.n_half.estimate == pytest.approx(1000, rel=0.05)
    assert one.rate.estimate == pytest.approx(1e9, rel=0.02)
    machine = Machine()
    several = hockney_of(modelled(machine.campaign(chance)))
    assert several.apparent
    assert several.latency_s.estimate == pytest.approx(machine.times(machine.sizes)[0], rel=0.05)
    assert several.rate.estimate == pytest.approx(
        (machine.sizes / machine.times(machine.sizes)).max(), rel=0.05
    )


def test_half_of_the_highest_rate_is_where_it_is() -> None:
    """Without noise: between the sizes around it."""
    machine = Machine(common=0.0, own=0.0)
    rates = machine.sizes / machine.times(machine.sizes)
    half = hockney_of(modelled(machine.campaign(np.random.default_rng(11)))).n_half
    assert half is not None
    place = int((rates >= rates.max() / 2).argmax())
    assert machine.sizes[place - 1] <= half.estimate <= machine.sizes[place]


def test_the_textbook_line_is_that_of_least_squares() -> None:
    one = Machine().campaign(np.random.default_rng(12))
    line = textbook_of(modelled(one))
    beta, alpha = np.polyfit(one.sizes, np.exp(one.logs), 1)
    assert line.latency_s.estimate == pytest.approx(alpha, rel=1e-6)
    assert line.rate.estimate == pytest.approx(1 / beta)
    ratios = (alpha + beta * one.sizes) / np.exp(one.logs)
    assert line.rms == pytest.approx(math.sqrt(((ratios - 1) ** 2).mean()))
    assert line.worst == pytest.approx(ratios[int(np.flatnonzero(one.sizes == line.worst_at)[0])])


@pytest.mark.truth
@pytest.mark.usefixtures("without_stability")
def test_a_size_that_was_left_out_is_predicted() -> None:
    """95 % of launches lie in the interval of one launch, and the truth in that of the mean."""
    chance = np.random.default_rng(13)
    machine = Machine(misfit=0.01, sizes=sizes_to(2**24, 30))
    launches = truths = count = 0
    for _ in range(40):
        whole = machine.campaign(chance)
        place = int(chance.integers(2, whole.sizes.size - 2))
        left = np.delete(np.arange(whole.sizes.size), place)
        model = modelled(Points(whole.sizes[left], whole.logs[left], whole.launches[:, left]))
        told = predicted(model, int(whole.sizes[place]))
        assert told.launch is not None
        assert told.mean is not None
        assert told.mean.low is not None
        assert told.mean.high is not None
        assert told.launch.holds(told.mean.low)
        assert told.launch.holds(told.mean.high)
        launches += told.launch.holds(math.exp(whole.launches[0, place]))
        truths += told.mean.holds(math.exp(whole.logs[place]))
        count += 1
    assert launches >= 0.9 * count
    assert truths >= 0.9 * count


def test_what_a_prediction_rests_on_is_said() -> None:
    one = Machine().campaign(np.random.default_rng(14), limits=(4040,))
    model = modelled(one)
    sizes = [int(size) for size in one.sizes]
    place = int(np.searchsorted(one.sizes, 262_144, side="right"))
    between = (sizes[place - 1] + sizes[place]) // 2
    assert predicted(model, sizes[7]).basis == "measured"
    assert time_of(predicted(model, sizes[7])).estimate == pytest.approx(math.exp(one.logs[7]))
    assert predicted(model, 4040).basis == "interpolated"
    assert predicted(model, between).basis == "at-break"
    assert predicted(model, 10**9).basis == "extrapolated"
    assert predicted(model, 0).basis == "extrapolated"
    assert time_of(predicted(model, 4040)).estimate == pytest.approx(250e-9 + 4040 / 6e9, rel=0.05)
    assert predicted(model, 10**9).why == "far"
    assert time_of(predicted(model, 4041)).estimate == pytest.approx(900e-9 + 4041 / 9e9, rel=0.05)


LARGE = modelled(
    Machine(ONE_LINE, sizes=sizes_to(2**20, 24)[-12:]).campaign(np.random.default_rng(16), limits=())
)


@given(st.integers(0, 2**40) | st.integers(500, 2**22))
def test_no_interval_reaches_beyond_twice_the_sizes(size: int) -> None:
    """And each size that is nearer has one."""
    told = predicted(LARGE, size)
    assert told.launch is not None
    assert told.mean is not None
    ends = (told.launch.low, told.launch.high, told.mean.low, told.mean.high)
    if LARGE.points.sizes[0] / 2 <= size <= 2 * LARGE.points.sizes[-1]:
        assert None not in ends
        assert told.why is None
    else:
        assert set(ends) == {None}
        assert told.why == "far"


def test_half_of_a_rate_that_no_size_comes_near_has_no_interval() -> None:
    """n_half is 20 times the largest size, so r_inf is a guess, too."""
    sizes = np.linspace(128, 1024, 15).round()
    machine = Machine(((np.inf, 2e-6, 1e-10),), sizes=sizes, common=0.0, own=0.001)
    two = hockney_of(modelled(machine.campaign(np.random.default_rng(17))))
    assert (two.apparent, two.extrapolated) == (False, True)
    assert two.n_half is not None
    assert two.n_half.low is two.rate.low is None


def test_no_interval_is_narrower_than_the_floor() -> None:
    """Equal launches, of which the instrument promises 1 % all the same."""
    machine = Machine(ONE_LINE, common=0.0, own=0.0)
    one = replace(machine.campaign(np.random.default_rng(18), limits=()), machine=PROMISED)
    model = modelled(one)
    (segment,) = model.segments
    told, two, line = predicted(model, 3000), hockney_of(model), textbook_of(model)
    times = [told.launch, told.mean]
    of_lines = [segment.alpha, segment.beta, segment.level, line.latency_s, line.rate]
    numbers = [*times, *of_lines, two.latency_s, two.rate, two.n_half]
    for number in numbers:
        assert number is not None
        assert number.low is not None
        assert number.high is not None
        assert number.low <= 0.9901 * number.estimate
        assert number.high >= 1.0099 * number.estimate


@pytest.mark.parametrize("odd", [1.5, 3.0])
def test_one_odd_launch_of_ten_changes_nothing(odd: float) -> None:
    machine = Machine(ONE_LINE, sizes=sizes_to(2**23, 24))
    one = machine.campaign(np.random.default_rng(19))
    launches = one.launches.copy()
    launches[4] += math.log(odd)
    other = Points(one.sizes, np.median(launches, axis=0), launches)
    (usual,), (beside,) = (modelled(points).segments for points in (one, other))
    for name in ("alpha", "beta", "level"):
        first, second = getattr(usual, name), getattr(beside, name)
        assert second.estimate == pytest.approx(first.estimate, rel=0.02)
        assert second.high / second.low < 1.5 * first.high / first.low


def test_nothing_is_said_beyond_a_segment_without_slope() -> None:
    sizes = np.arange(1.0, 33.0)
    one = Machine(segments=((np.inf, 1e-6, 0.0),), sizes=sizes).campaign(np.random.default_rng(15))
    told = predicted(modelled(one), 4096)
    assert (told.basis, told.launch) == ("no-slope", None)


def test_an_end_that_no_number_has_is_infinite() -> None:
    empty = np.empty(0)
    replicates = Replicates(empty, empty, empty, empty, factor=3.0)
    _, low, high = replicates.interval(1e-300, np.array([1e-310, 1e10])).ends
    assert low is not None
    assert low >= 0
    assert high == math.inf
