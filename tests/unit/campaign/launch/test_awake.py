"""A clock that stands while we are stopped, as far as the system lets us notice."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.campaign.launch.awake import OVERSLEPT_S, AwakeClock

if TYPE_CHECKING:
    from collections.abc import Callable

ENOUGH = OVERSLEPT_S + 1.0


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Lets time pass."""
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])

    def wait(seconds: float) -> None:
        now[0] += seconds

    return wait


def read_now() -> AwakeClock:
    """A clock that was read at this moment."""
    clock = AwakeClock()
    clock.now()
    return clock


def test_the_clock_stops_from_its_last_reading_until_sigcont(passes: Callable[[float], None]) -> None:
    clock = read_now()
    passes(3.0)
    assert clock.now() == 1003.0
    passes(50.0)
    clock.continued()
    passes(2.0)
    assert clock.now() == 1005.0
    assert clock.stopped_s == 50.0


def test_a_wait_that_took_much_longer_was_a_stop(passes: Callable[[float], None]) -> None:
    clock = read_now()
    passes(5.0 + ENOUGH)
    clock.waited(5.0)
    assert clock.now() == 1005.0


def test_a_wait_that_took_a_little_longer_was_no_stop(passes: Callable[[float], None]) -> None:
    clock = read_now()
    passes(5.0 + 0.5 * OVERSLEPT_S)
    clock.waited(5.0)
    assert clock.stopped_s == 0.0
    assert clock.take_stopped_s() is None


def test_a_stop_is_reported_once(passes: Callable[[float], None]) -> None:
    clock = read_now()
    passes(4.0)
    clock.continued()
    clock.continued()
    assert clock.take_stopped_s() == 4.0
    assert clock.take_stopped_s() is None


@given(st.lists(st.tuples(st.floats(0.0, 1e5), st.booleans()), max_size=20))
def test_the_clock_is_monotonic_and_never_too_fast(steps: list[tuple[float, bool]]) -> None:
    now = [0.0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "monotonic", lambda: now[0])
        clock = AwakeClock()
        seen = [clock.now()]
        for seconds, stopped in steps:
            now[0] += seconds
            if stopped:
                clock.continued()
            seen.append(clock.now())
            assert -1e-6 <= seen[-1] - seen[-2] <= seconds + 1e-6
