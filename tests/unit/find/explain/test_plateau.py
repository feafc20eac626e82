"""Plateaus: what a law of time against size has for a best bandwidth, level and fall is found."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from mpigauge.document.document import Units
from mpigauge.find.explain.plateau import headline, plateaus, sentence
from mpigauge.plan.lab import TCP_SHARE, Lab
from tests.made import cell
from tests.unit.find.explain.made_evidence import evidence, varied

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpigauge.plan.model import Cell

SIZES = tuple(2**power for power in range(10, 24))
LATENCY_NS = 1000.0
BYTES_PER_NS = 10.0


def by_law(
    bytes_per_ns: Callable[[Cell], float], latency_ns: float = LATENCY_NS, noise: float = 0.002
) -> Callable[[Cell, int], list[int]]:
    """Round trips of a message that takes a latency and its bytes over a rate; launches differ a little."""

    def samples_ns(of: Cell, launch: int) -> list[int]:
        one_way_ns = latency_ns + of.bytes / bytes_per_ns(of)
        return 30 * [round(2 * one_way_ns * (1 + noise * (launch % 3 - 1)))]

    return samples_ns


def test_a_latency_and_a_rate_still_rise_until_the_rate_is_all() -> None:
    found = evidence([cell(size=size) for size in SIZES[:5]], by_law(lambda _: BYTES_PER_NS))
    (fact,) = plateaus(found)
    assert fact.best.bytes == SIZES[4]
    assert fact.rises is not None
    assert fact.rises.verdict == "slower"
    assert not fact.falls
    assert "; still rising at the largest size: a byte takes" in sentence(fact, varied(found))


@pytest.mark.parametrize(("reach", "known"), [(1.5, True), (1.8, False), (1900.0, False)])
def test_a_bandwidth_open_by_a_factor_of_three_is_not_known(reach: float, known: bool) -> None:
    found = evidence([cell(size=size) for size in SIZES], by_law(lambda _: BYTES_PER_NS))
    (fact,) = plateaus(found)
    best = replace(fact.best, low=fact.best.estimate / reach, high=fact.best.estimate * reach)
    for said in (headline, sentence):
        text = said(replace(fact, best=best), varied(found))
        assert ("best bandwidth not known" in text) != known
        assert (" B/s" in text.replace("GB/s", " B/s").replace("MB/s", " B/s")) == known


def test_a_level_reaches_from_where_the_latency_is_little_to_the_largest() -> None:
    """Within 3 % of the best are sizes whose latency is a 33rd of their time or less, about."""
    found = evidence([cell(size=size) for size in SIZES], by_law(lambda _: BYTES_PER_NS))
    (fact,) = plateaus(found)
    assert fact.best.estimate == pytest.approx(BYTES_PER_NS * 1e9, rel=0.01)
    begin, end = fact.level
    assert LATENCY_NS * BYTES_PER_NS * 32 / 2 < begin < LATENCY_NS * BYTES_PER_NS * 34 * 2
    assert end == SIZES[-1]
    assert (fact.rises, fact.falls, fact.copies, fact.link_bytes_per_s) == (None, False, None, None)
    assert "within 3.0 % of it from 512 KiB to 8 MiB, the largest size" in sentence(fact, varied(found))


def test_a_fall_behind_the_caches_is_told_with_its_size() -> None:
    def rate(of: Cell) -> float:
        return BYTES_PER_NS if of.bytes <= 2**20 else BYTES_PER_NS / 3

    found = evidence([cell(size=size) for size in SIZES], by_law(rate))
    (fact,) = plateaus(found)
    assert fact.falls
    assert fact.level == (2**18, 2**20)
    assert fact.change is not None
    assert fact.change.estimate == pytest.approx(3.0, rel=0.05)
    text = sentence(fact, varied(found))
    assert "best bandwidth 9.9" in text
    assert "at 1 MiB; within 3.0 % of it from 256 KiB to 1 MiB, then it falls to 3.33 GB/s" in text
    assert "at 8 MiB, where a byte takes 2.97 times" in text


def test_a_fall_that_launches_do_not_agree_on_is_none() -> None:
    def rate(of: Cell) -> float:
        return BYTES_PER_NS if of.bytes <= 2**20 else BYTES_PER_NS / 1.1

    samples_ns = by_law(rate)

    def noisy(of: Cell, launch: int) -> list[int]:
        effect = (1.0, 1.5, 0.75)[(of.bytes > 2**20) * (1 + launch % 2)]
        return [round(one * effect) for one in samples_ns(of, launch)]

    found = evidence([cell(size=size) for size in SIZES], noisy)
    (fact,) = plateaus(found)
    assert not fact.falls
    assert "then it falls" not in sentence(fact, varied(found))


def test_between_hosts_of_a_lab_it_is_held_against_the_link() -> None:
    """Half of what TCP brings through is half, in each direction; one host is no link."""
    lab = Lab(hosts=2, rate="1gbit", delay="20us")
    half = 125e6 * TCP_SHARE / 2 * 1e-9
    far = [cell(size=size, placement="h1,h2") for size in SIZES]
    found = evidence([*far, *(cell(size=size) for size in SIZES)], by_law(lambda _: half), lab=lab)
    link, memory = plateaus(found)
    assert link.link_bytes_per_s == pytest.approx(125e6 * TCP_SHARE)
    assert memory.link_bytes_per_s is None
    text = sentence(link, varied(found))
    assert "50 % of the 118 MB/s that TCP can bring through the emulated link" in text
    assert "best bandwidth 58.8 MB/s" in text
    asked = sentence(link, varied(found), Units(rate="Mbit/s"))
    assert "best bandwidth 471 Mbit/s" in asked
    assert "50 % of the 941 Mbit/s that TCP" in asked


def test_both_directions_count_once_each_against_the_link() -> None:
    lab = Lab(hosts=2, rate="1gbit")
    whole = 125e6 * TCP_SHARE * 1e-9
    cells = [cell("exchange", size, "nonblocking", placement="h1,h2") for size in SIZES]
    found = evidence(cells, by_law(lambda _: whole), lab=lab)
    (fact,) = plateaus(found)
    assert fact.directions == 2
    text = sentence(fact, varied(found))
    assert "in both directions together" in text
    assert "100 % of the 118 MB/s in each direction that TCP" in text


def test_a_link_without_a_rate_promises_nothing() -> None:
    cells = [cell(size=size, placement="h1,h2") for size in SIZES]
    (fact,) = plateaus(evidence(cells, by_law(lambda _: 1.0), lab=Lab(hosts=2, rate="none")))
    assert fact.link_bytes_per_s is None


def test_on_one_host_it_is_held_against_copies_of_the_same_size() -> None:
    messages = [cell(size=size) for size in SIZES]
    copies = [cell("memcpy", size) for size in SIZES]

    def samples_ns(of: Cell, launch: int) -> list[int]:
        message = by_law(lambda _: BYTES_PER_NS)(of, launch)
        # A sample of a copy is made to count as two, as that of a round trip does.
        return message if of.pattern == "pingpong" else [round(one / 2.5) for one in message]

    found = evidence([*messages, *copies], samples_ns)
    (fact,) = plateaus(found)
    assert fact.copies is not None
    assert fact.copies.ratio.estimate == pytest.approx(2.5, rel=0.01)
    assert (
        "a message takes 2.50 times (2.50 \N{EN DASH} 2.50) as long as a copy of its size (memcpy"
        in sentence(fact, varied(found))
    )


def test_copies_are_no_measure_of_messages_between_hosts() -> None:
    cells = [cell(pattern, size, placement="h1,h2") for pattern in ("pingpong", "memcpy") for size in SIZES]
    (fact,) = plateaus(evidence(cells, by_law(lambda _: 1.0)))
    assert fact.copies is None


def test_two_sizes_are_no_curve() -> None:
    assert list(plateaus(evidence([cell(size=8), cell(size=64)], by_law(lambda _: 1.0)))) == []
