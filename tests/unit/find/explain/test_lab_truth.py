"""What a lab was told, beside what was measured: links that are exact have no error, others theirs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from mpigauge.find.explain.lab_truth import PlantedDelay, PlantedRate, headline, planted, sentence
from mpigauge.find.explain.topics import conclusions
from mpigauge.plan.lab import HEADERS_BYTES, TCP_SHARE, Lab, Link, Port
from mpigauge.vocabulary import AUTO
from tests.made import cell
from tests.unit.find.explain.made_evidence import evidence, varied

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpigauge.find.explain.evidence import Evidence
    from mpigauge.plan.model import Cell

LAB = Lab(
    hosts=4,
    rate="1gbit",
    delay="25us",
    links=(Link("h1-h3", delay="2ms"), Link("h1-h4", rate="none", delay="25us")),
    ports=(Port("h2", rate="100mbit"),),
)
RATES = {"h1,h2": 100e6 / 8, "h1,h3": 1e9 / 8, "h1,h4": 0.0}
DELAYS_NS = {"h1,h2": 25e3, "h1,h3": 2e6, "h1,h4": 25e3}
LANES_NS = {
    "h1,h2": HEADERS_BYTES * (8.0 + 80.0),
    "h1,h3": HEADERS_BYTES * 2 * 8.0,
    "h1,h4": 0.0,
}
"""A packet of headers alone: on a lane of 1 Gbit/s 8 ns for each byte, on one of 100 Mbit/s 80."""

SOFTWARE_NS = 20e3
SIZES = (0, 65536, 4 * 2**20)


def emulated(slower: float = 1.0, later_ns: float = 0.0) -> Callable[[Cell, int], list[int]]:
    """Round trips over what the lab was told, but for its rates and delays being off by so much."""

    def one_way_ns(of: Cell, launch: int) -> float:
        software_ns = SOFTWARE_NS * (1 + 0.001 * launch)
        if "," not in of.placement:
            return software_ns
        rate = RATES[of.placement]
        wire_ns = of.bytes / (rate * TCP_SHARE) * 1e9 if rate else of.bytes / 10
        return software_ns + DELAYS_NS[of.placement] + LANES_NS[of.placement] + slower * wire_ns + later_ns

    return lambda of, launch: 30 * [round(2 * one_way_ns(of, launch))]


def in_places(
    *places: str, sizes: tuple[int, ...] = SIZES, mode: str = "standard", transport: str = AUTO
) -> list[Cell]:
    where = {"transport": transport, "mode": mode}
    return [cell(size=size, placement=place, **where) for place in places for size in sizes]


def delays(found: Evidence) -> dict[tuple[str, str], PlantedDelay]:
    """By placement and what was taken off."""
    facts = [fact for fact in planted(found) if isinstance(fact, PlantedDelay)]
    return {(fact.of.cell.placement, fact.base.placement if fact.base else ""): fact for fact in facts}


def rates(found: Evidence) -> dict[str, PlantedRate]:
    return {fact.of.cell.placement: fact for fact in planted(found) if isinstance(fact, PlantedRate)}


def test_software_cancels_between_two_links() -> None:
    found = evidence(in_places("h1,h2", "h1,h3"), emulated(), lab=LAB)
    fact = delays(found)["h1,h3", "h1,h2"]
    assert fact.delay_s == pytest.approx(1.975e-3)
    assert fact.lanes_s == pytest.approx((LANES_NS["h1,h3"] - LANES_NS["h1,h2"]) * 1e-9)
    assert fact.measured_s == pytest.approx(fact.planted_s, rel=1e-3)
    text = sentence(fact, varied(found))
    assert text.startswith("pingpong, h1,h3: emulated network of a lab: planted one way 1.97 ms more than h1")
    assert "measured 1.97 ms" in text
    assert "more for 0 B; error 0.0 % (\N{MINUS SIGN}1.0 % \N{EN DASH} +1.0 %)" in text


def test_without_anything_to_take_off_software_is_in_it_and_said() -> None:
    found = evidence(in_places("h1,h3"), emulated(), lab=LAB)
    fact = delays(found)["h1,h3", ""]
    assert fact.planted_s == pytest.approx(2.00144e-3)
    assert fact.measured_s - fact.planted_s == pytest.approx(SOFTWARE_NS * 1e-9, rel=0.01)
    text = sentence(fact, varied(found))
    assert (
        "planted one way 2.00 ms (2.00 ms of delay, +1.44 µs on the wire without the header of MPI)" in text
    )
    assert "+20.1 µs (+1.0 %), in which is the software of both hosts and of the relay" in text
    line = headline(fact, varied(found))
    assert "planted 2.00 ms; +20.1 µs is software of both hosts" in line
    assert "error" not in line


def test_the_same_transport_on_one_host_is_taken_off() -> None:
    cells = [*in_places("h1,h3", "same-host", transport="tcp"), *in_places("same-host", transport="shm")]
    found = evidence(cells, emulated(), lab=LAB)
    fact = delays(found)["h1,h3", "same-host"]
    assert fact.base is not None
    assert fact.base.transport == "tcp"
    assert fact.measured_s == pytest.approx(fact.planted_s, rel=1e-3)
    assert fact.low_s <= fact.measured_s <= fact.high_s
    assert "more than tcp for 0 B" in sentence(fact, varied(found))


def test_what_a_library_chooses_on_one_host_is_not_taken_off() -> None:
    """It is memory, and no part of what a message over the network takes."""
    assert list(delays(evidence(in_places("h1,h3", "same-host"), emulated(), lab=LAB))) == [("h1,h3", "")]


def test_a_delay_that_is_not_what_was_planted_is_an_error() -> None:
    cells = in_places("h1,h3", "same-host", transport="tcp")
    found = evidence(cells, emulated(later_ns=200e3), lab=LAB)
    text = sentence(delays(found)["h1,h3", "same-host"], varied(found))
    assert "error +10 % (+8.9 % \N{EN DASH} +11 %), in which is the work of the relay" in text


@pytest.mark.parametrize(("slower", "error"), [(1.0, "0.0 %"), (1.25, "\N{MINUS SIGN}20 %")])
def test_a_rate_is_held_against_what_tcp_leaves_of_it(slower: float, error: str) -> None:
    found = evidence(in_places("h1,h2", "h1,h3"), emulated(slower), lab=LAB)
    facts = rates(found)
    for place, fact in facts.items():
        assert fact.link_bytes_per_s == RATES[place]
        assert fact.payload_bytes_per_s == pytest.approx(RATES[place] * TCP_SHARE)
    text = sentence(facts["h1,h2"], varied(found))
    assert "planted 100 Mbit/s, of which TCP leaves 11.8 MB/s; measured" in text
    assert "in one direction at 4 MiB" in text
    assert f"error {error}" in text


def test_what_is_open_by_a_factor_of_three_is_not_known_and_has_no_error() -> None:
    found = evidence(in_places("h1,h2", "same-host", transport="tcp"), emulated(), lab=LAB)
    fact, delay = rates(found)["h1,h2"], delays(found)["h1,h2", "same-host"]
    best = replace(fact.best, low=fact.best.estimate / 9000, high=fact.best.estimate * 9000)
    open_delay = replace(delay, low_s=delay.measured_s / 2, high_s=delay.measured_s * 2)
    for one, unknown in ((replace(fact, best=best), "measured not known"), (open_delay, "a time not known")):
        text = sentence(one, varied(found))
        assert unknown in text
        assert "error not known" in text
        line = headline(one, varied(found))
        assert "not known" in line
        assert "error" not in line


def test_a_bandwidth_that_still_rises_is_said_to() -> None:
    found = evidence(in_places("h1,h3"), emulated(), lab=LAB)
    (fact,) = rates(found).values()
    assert fact.rising
    assert "at 4 MiB, where it still rises; error" in sentence(fact, varied(found))


def test_small_messages_say_nothing_of_a_rate() -> None:
    """A bandwidth that the delay makes is no error of the rate."""
    assert rates(evidence(in_places("h1,h3", sizes=(0, 512, 65536)), emulated(), lab=LAB)) == {}


def test_each_direction_has_the_rate() -> None:
    cells = [cell("exchange", size, "nonblocking", placement="h1,h3") for size in SIZES]
    found = evidence(cells, emulated(), lab=LAB)
    (fact,) = rates(found).values()
    assert fact.best.estimate == pytest.approx(fact.payload_bytes_per_s, rel=0.1)


def test_a_rate_of_none_is_nothing_planted_but_its_delay_is() -> None:
    found = evidence(in_places("h1,h4"), emulated(), lab=LAB)
    assert rates(found) == {}
    fact = delays(found)["h1,h4", ""]
    assert fact.delay_s == pytest.approx(25e-6)
    assert fact.lanes_s == 0
    assert "planted one way 25.0 µs; measured 45.1 µs" in sentence(fact, varied(found))


def test_a_mode_that_waits_for_the_receiver_takes_two_delays_and_does_not_count() -> None:
    found = evidence(in_places("h1,h3", mode="synchronous"), emulated(), lab=LAB)
    assert delays(found) == {}


def test_large_messages_alone_say_nothing_of_a_delay() -> None:
    assert delays(evidence(in_places("h1,h3", sizes=(2048, 4096)), emulated(), lab=LAB)) == {}


def test_outside_of_a_lab_nothing_was_planted() -> None:
    found = evidence(in_places("h1,h3"), emulated())
    assert list(planted(found)) == []
    assert "planted" not in {one.topic for one in conclusions(found)}


def test_one_launch_says_nothing() -> None:
    assert list(planted(evidence(in_places("h1,h2", "h1,h3"), emulated(), lab=LAB, launches=[1]))) == []
