"""What a clock's drift is learned from: fits over a growing baseline, of clocks whose truth is known."""

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from mpigauge.mpi import find, kernel
from mpigauge.result.kernel_data import ClockModel
from tests.real.mpi.conftest import SANITIZED, SANITIZER_OPTIONS, prefix

pytestmark = pytest.mark.mpi

HARNESS = Path(__file__).with_name("clock_history.c")
SECOND_NS = 10**9
OFFSET_NS, DRIFT = 5_000_000, 20e-6
TRIP_NS = 1000
LEARNED, EARLY = 50, 4
"""Points of the first fit, and of the checks before there is one a second."""

FIRST, LATER, LAST = (LEARNED - 1 + EARLY + seconds for seconds in (0, 15, 63))
"""Models of 1.6, 16 and 64 seconds."""
ROUNDING_NS = 2

Ahead = Callable[[int], float]
"""By how much a clock is ahead of the reference at a time of its own, in ns."""


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Ahead, list[int], int], list[ClockModel]]:
    """Models after every point of a clock, whose messages take a µs and a little more each way."""
    library, program = find.find(prefix("mpich")), tmp_path_factory.mktemp("clocks") / "history"
    sources = [kernel.SOURCES / name for name in ("clock/history.c", "clock/drift.c", "ranks/abort.c")]
    words = ["-D_GNU_SOURCE", *SANITIZED, "-I", kernel.SOURCES, HARNESS, *sources, "-lm", "-o", program]
    environment = {**library.environ, **SANITIZER_OPTIONS}
    subprocess.run([library.mpicc, *map(str, words)], env=environment, check=True)

    def fit(ahead: Ahead, times_ns: list[int], seed: int) -> list[ClockModel]:
        text = "\n".join(points(ahead, times_ns, seed))
        done = subprocess.run(
            [program], input=text, env=environment, capture_output=True, text=True, check=True
        )
        return [ClockModel(**json.loads(line)) for line in done.stdout.splitlines()]

    return fit


def points(ahead: Ahead, times_ns: list[int], seed: int) -> Iterator[str]:
    """What the best of some exchanges tell: reference - clock lies between both ways."""
    random = np.random.default_rng(seed)
    for at_ns in times_ns:
        there, back = TRIP_NS + random.exponential(TRIP_NS / 3, 2)
        yield f"{round(-ahead(at_ns) - there)} {round(-ahead(at_ns) + back)} {at_ns}"


def learned_and_checked(seconds: int) -> list[int]:
    """Fifty points in a tenth of a second, then one after 0.1, 0.2, 0.4, 0.8 s, and one in every second."""
    learned = [i * SECOND_NS // 500 for i in range(LEARNED)]
    early = [SECOND_NS * tenths // 10 for tenths in (2, 4, 8, 16)]
    return learned + early + [i * SECOND_NS for i in range(2, seconds + 1)]


def steady(at_ns: int) -> float:
    return OFFSET_NS + DRIFT * at_ns


Fit = Callable[[Ahead, list[int], int], list[ClockModel]]


def test_the_truth_is_within_every_bound(fitted: Fit) -> None:
    for seed in range(5):
        for model in fitted(steady, learned_and_checked(40), seed)[1:]:
            assert abs(model.offset_ns - steady(model.base_ns)) <= model.bound_ns + ROUNDING_NS
            assert abs(model.slope - DRIFT) <= model.bound_slope * 1.001


def test_a_longer_baseline_makes_a_better_slope(fitted: Fit) -> None:
    """Of points evenly over T seconds, an error of T^-1.5; the bound of it falls as 1/T at least."""
    models = [fitted(steady, learned_and_checked(64), seed) for seed in range(10)]
    errors = {n: slope_error([of[n] for of in models]) for n in (FIRST, LATER, LAST)}
    assert errors[LATER] < errors[FIRST] / 5
    assert errors[LAST] < errors[LATER] / 3
    assert all(of[LAST].bound_slope < of[FIRST].bound_slope / 30 for of in models)


def test_checks_make_up_for_a_short_time_of_learning(fitted: Fit) -> None:
    """What a second of learning before the first collective would have told, they tell meanwhile."""
    a_second = [i * SECOND_NS // LEARNED for i in range(LEARNED)]
    long = [fitted(steady, a_second, seed)[-1] for seed in range(10)]
    short = [fitted(steady, learned_and_checked(2), seed) for seed in range(10)]
    assert slope_error([of[LEARNED - 1] for of in short]) > 5 * slope_error(long)
    assert slope_error([of[FIRST] for of in short]) < 2 * slope_error(long)


def slope_error(models: list[ClockModel]) -> float:
    return float(np.sqrt(np.mean([(model.slope - DRIFT) ** 2 for model in models])))


def test_a_drift_that_changes_is_learned_anew(fitted: Fit) -> None:
    """As of a clock that becomes warm: no line meets what was before and after."""

    def warmed(at_ns: int) -> float:
        return steady(at_ns) + 1e-6 * max(0, at_ns - 30 * SECOND_NS)

    last = fitted(warmed, learned_and_checked(90), 1)[-1]
    assert abs(last.offset_ns - warmed(last.base_ns)) <= 2 * TRIP_NS
    assert abs(last.slope - DRIFT - 1e-6) < 2e-7


def test_a_clock_that_jumps_is_followed(fitted: Fit) -> None:
    def jumping(at_ns: int) -> float:
        return steady(at_ns) + 10**6 * (at_ns >= 20 * SECOND_NS)

    last = fitted(jumping, learned_and_checked(40), 1)[-1]
    assert abs(last.offset_ns - jumping(last.base_ns)) <= 2 * TRIP_NS
