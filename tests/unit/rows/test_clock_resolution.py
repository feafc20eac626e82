"""The step of the clock: medians of grouped data cover the truth where plain ones do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from mpigauge.rows.clock_resolution import clock_resolution, in_order, median_of
from mpigauge.rows.precision import widths_asked
from mpigauge.rows.rows import rows
from tests.made import JOB, PLACE, campaign, collective, launch, result_of, together
from tests.unit.rows.planted import estimate

if TYPE_CHECKING:
    from mpigauge.stats.percentiles import Values

repeatable = settings(derandomize=True, deadline=None)
BARRIER = collective("barrier")


def ticking(generator: np.random.Generator, times_ns: Values, step_ns: float) -> Values:
    """What a clock with this step says of such times, from any moment on."""
    begins = generator.uniform(0, step_ns, times_ns.shape)
    said: Values = np.floor((begins + times_ns) / step_ns) * step_ns
    return said


def test_the_median_is_that_of_the_class_that_holds_the_middle() -> None:
    values: Values = np.array([470.0] * 10 + [480.0] * 60 + [490.0] * 30) * 1e-9
    expected = 475 + 10 * (0.5 - 0.1) / 0.6
    assert median_of([values], [10e-9]) == pytest.approx(expected * 1e-9, rel=1e-4)
    assert median_of([values[::2], values[1::2]], [10e-9, 10e-9]) == pytest.approx(expected * 1e-9, rel=1e-4)


@repeatable
@given(st.lists(st.integers(0, 60), min_size=1, max_size=50), st.integers(1, 20))
def test_grouping_moves_no_round_by_more_than_half_a_step(ticks: list[int], step: int) -> None:
    values = np.array(ticks, dtype=np.float64) * step
    spread = in_order([values], [float(step)])
    assert np.all(np.abs(spread - np.sort(values)) <= step / 2)
    assert np.all(np.diff(spread) >= 0)


def test_a_fine_clock_changes_nothing() -> None:
    values = np.random.default_rng(1).uniform(9e-6, 11e-6, 99)
    assert median_of([values], [1e-9]) == np.median(values)
    assert median_of([values]) == np.median(values)


@pytest.mark.truth
@pytest.mark.parametrize("time_ns", [300, 483, 1000])
def test_intervals_of_stable_launches_cover_the_truth_in_spite_of_the_clock(time_ns: float) -> None:
    generator = np.random.default_rng(int(time_ns))
    covered = 0
    for _ in range(60):
        truth = time_ns + generator.uniform(-5, 5)
        launches = truth * np.exp(generator.normal(0, 0.005, (10, 1)))
        seen = ticking(generator, launches * np.exp(generator.normal(0, 0.03, (10, 200))), 10.0)
        found = estimate([[one * 1e-9] for one in seen], steps_s=[[10e-9]] * 10)
        assert found.low is not None
        covered += found.low <= truth * 1e-9 <= (found.high or 0)
    assert covered >= 54


def barriers(samples_ns: list[int], step_ns: int) -> list[object]:
    """Ten launches that have all measured the same, with a clock of this step."""
    place = replace(PLACE, clock_step_ns=step_ns)
    launches = [replace(launch(number), ranks_at=(place, place)) for number in range(1, 11)]
    return [*launches, *(together(number, 0, BARRIER, samples_ns) for number in range(1, 11))]


def test_equal_launches_have_an_interval_that_holds_what_the_clock_hides() -> None:
    result = result_of(campaign(BARRIER), *barriers([480] * 40, 10))  # type: ignore[arg-type]
    (row,) = rows(result)
    assert row.time is not None
    assert row.time.low is not None
    assert row.time.low < 477.5e-9
    assert (row.time.high or 0) > 482.5e-9
    steps = clock_resolution(result.launches, result.visits)
    assert widths_asked(result.visits, steps)[BARRIER] == row.time.launches_half_width
    assert "clock-step" in {warning.kind for warning in row.warnings}


def test_the_step_is_believed_only_if_samples_lie_a_step_apart() -> None:
    generator = np.random.default_rng(2)
    fine = generator.normal(480, 12, 200).astype(int).tolist()
    coarse = [round(value / 16) * 16 for value in fine]
    for samples, step_ns in ((fine, 1.0), (coarse, 16.0), ([480] * 40, 16.0)):
        result = result_of(campaign(BARRIER), *barriers(samples, 16))  # type: ignore[arg-type]
        assert clock_resolution(result.launches, result.visits) == {JOB: step_ns}
