"""Overheads, gap and latency of LogGP: what follows from times of calls alone, and where nothing does."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from mpigauge.models.overheads import Calls, Overheads, overheads_of
from mpigauge.rows.estimate import Estimate
from mpigauge.stats.limits import PROMISED
from tests.unit.rows.planted import estimate

if TYPE_CHECKING:
    from mpigauge.rows.estimate import Estimate
    from mpigauge.vocabulary import NoLatency

SEND_S, RECEIVE_S, LATENCY_S, GAP_S, CLOCK_S = 80e-9, 50e-9, 200e-9, 90e-9, 25e-9
WAY_S = SEND_S + RECEIVE_S + LATENCY_S
WINDOW = 64


def timing(seconds: float, launches: int = 6, spread: float = 0.01, seed: int = 1) -> Estimate:
    """Of launches that differ."""
    chance = np.random.default_rng(seed)
    return estimate([[np.full(5, seconds * np.exp(spread * chance.normal()))] for _ in range(launches)])


def calls(size: int = 8, *, launches: int = 6, spread: float = 0.01, **others: float) -> Calls:
    """A machine of the parameters above, or of others, at one size."""
    send, receive, way = (others.get(name, usual) for name, usual in PARTS.items())
    window = ((WINDOW - 1) * GAP_S + 2 * way) / WINDOW
    times = (send + CLOCK_S, receive + CLOCK_S, way, window)
    made = [timing(each, launches, spread, seed) for seed, each in enumerate(times)]
    return Calls(
        way={size: made[2]},
        send={size: made[0]},
        receive={size: made[1]},
        window={size: made[3]},
        messages={size: WINDOW},
        clock_s=CLOCK_S,
    )


PARTS = {"send": SEND_S, "receive": RECEIVE_S, "way": WAY_S}


def only(found: list[Overheads]) -> Overheads:
    (one,) = found
    return one


def test_the_parameters_of_a_machine_are_found() -> None:
    one = only(overheads_of(calls(spread=0.002)))
    truths = {"send": SEND_S, "receive": RECEIVE_S, "gap": GAP_S, "latency": LATENCY_S, "way": WAY_S}
    for name, truth in truths.items():
        known = getattr(one, name)
        assert known.estimate == pytest.approx(truth, rel=0.02), name
        assert known.low < known.estimate < known.high
    assert one.why is None


@pytest.mark.truth
def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    held = 0
    for number in range(200):
        chance = np.random.default_rng(number)
        made = [
            estimate([[np.full(5, each * np.exp(0.02 * chance.normal()))] for _ in range(5)])
            for each in (SEND_S + CLOCK_S, RECEIVE_S + CLOCK_S, WAY_S)
        ]
        one = only(overheads_of(Calls({8: made[2]}, {8: made[0]}, {8: made[1]}, clock_s=CLOCK_S)))
        known = one.latency
        held += bool(known and known.low is not None and known.low <= LATENCY_S <= (known.high or 0))
    assert 0.9 <= held / 200 <= 0.99


def test_what_a_launch_does_to_all_calls_cancels() -> None:
    """The interval of L is of differences within launches, and not of three times that vary with them."""
    effects = (1.0, 1.2, 0.9, 1.1, 1.3, 0.8)
    together = [
        estimate([[np.full(5, each + 1e-7 * effect)] for effect in effects]) for each in (SEND_S, WAY_S)
    ]
    alone = estimate([[np.full(5, RECEIVE_S)] for _ in effects])
    one = only(overheads_of(Calls({8: together[1]}, {8: together[0]}, {8: alone})))
    assert one.latency is not None
    floor_s = PROMISED * math.hypot(SEND_S, RECEIVE_S, WAY_S)
    assert one.latency.high == pytest.approx(one.latency.estimate + floor_s, rel=0.01)
    assert one.latency.low == pytest.approx(one.latency.estimate - floor_s, rel=0.01)
    assert one.way is not None
    assert (one.way.high or 0) > 1.05 * (one.way.low or 0)


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (calls(way=0.9 * (SEND_S + RECEIVE_S)), "overlap"),
        (calls(way=1.1 * (SEND_S + RECEIVE_S), spread=0.1), "unsure"),
        (calls(launches=1), "unsure"),
        (calls(size=65), "large"),
        (Calls({}, {8: timing(SEND_S)}, {}), "missing"),
        (Calls({8: timing(WAY_S)}, {8: timing(SEND_S)}, {}), "missing"),
    ],
)
def test_where_latency_is_not_defined_it_is_not_given(made: Calls, why: NoLatency) -> None:
    one = only(overheads_of(made))
    assert one.latency is None
    assert one.why == why


def test_no_time_is_below_nothing() -> None:
    """Calls that are as long as the reading of the clock."""
    one = only(overheads_of(calls(send=-2e-9, receive=1e-10)))
    assert one.send is not None
    assert one.send.estimate == 0 == one.send.low


def test_a_gap_needs_a_window_and_an_acknowledgement() -> None:
    made = calls()
    assert only(overheads_of(Calls(made.way, made.send, made.receive, made.window, {8: 1}))).gap is None
    far = calls(size=4096)
    assert only(overheads_of(far)).gap is None  # nothing says what an empty message takes
