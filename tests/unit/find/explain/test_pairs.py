"""Pairs at once: the ratio to one pair, a slow pair that was put in, and hosts that no pair crosses."""

from __future__ import annotations

from dataclasses import replace as replace_fields
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from mpigauge.find.explain.contrasts import senders
from mpigauge.find.explain.pairs import headline, members_of, pairs, remedy, sentence
from mpigauge.find.fact import rests_on
from tests.made import PATTERNS, cell, collective
from tests.unit.find.explain.made_evidence import evidence, varied

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpigauge.plan.model import Cell
    from mpigauge.result.records import Visit

OPS = 128
ONE_NS = 100_000
BY_NAME = {pattern.name: pattern for pattern in PATTERNS}


def many(name: str = "multi-stream", size: int = 8, ranks: int = 4, **more: object) -> Cell:
    pattern = BY_NAME[name]
    window = {"window": 64} if pattern.windowed else {}
    return collective(name, size, pattern.modes[0].name, ranks=ranks, **(window | more))


def alone(name: str = "stream", size: int = 8, ranks: int = 4, **more: object) -> Cell:
    pattern = BY_NAME[name]
    window = {"window": 64} if pattern.windowed else {}
    return cell(name, size, pattern.modes[0].name, ranks=ranks, **(window | more))


def by_pattern(**factors: float) -> Callable[[Cell, int], list[int]]:
    """Samples that take so many times what one pair does, a little different in each launch."""

    def samples(of: Cell, launch: int) -> list[int]:
        name = of.pattern.replace("-", "_")
        return [round(factors.get(name, 1.0) * (ONE_NS + 100 * launch))] * 40

    return samples


def ranks_take(*factors: float) -> Callable[[Visit], Visit]:
    """Visits with a time for each rank, where a pattern has them."""

    def changed(one: Visit) -> Visit:
        if not BY_NAME[one.cell.pattern].rank_times:
            return replace(one, ops=OPS)
        return replace(one, ops=OPS, rank_ns=[round(factor * ONE_NS) for factor in factors])

    return changed


def test_pairs_that_do_not_hinder_each_other_do_as_much_as_they_are() -> None:
    found = evidence(
        [alone(), many()], by_pattern(multi_stream=0.5), cores=4, of=ranks_take(1.0, 1.0, 1.0, 1.0)
    )
    (fact,) = pairs(found)
    assert (fact.pairs, fact.rooted, fact.alone) == (2, False, ("stream", "unidirectional"))
    (one,) = fact.sizes
    assert one.beside is not None
    assert one.beside.estimate == pytest.approx(2.0)
    assert one.least_share is not None
    assert one.least_share.estimate == pytest.approx(1.0)
    assert one.slowest == ()
    text = sentence(fact, varied(found))
    assert (
        "2 pairs carry 2.00 times (2.00 \N{EN DASH} 2.00) what one pair does (stream unidirectional) at 8 B"
        in text
    )
    assert "the rate of the fastest" not in text, "within the margin"
    assert "takes" not in text


def test_a_slow_pair_is_found_and_named() -> None:
    found = evidence([many(ranks=6)], by_pattern(), cores=8, of=ranks_take(1.0, 1.0, 0.9, 1.0, 1.5, 1.0))
    (fact,) = pairs(found)
    (slow,) = fact.sizes[0].slowest
    assert slow.ranks == (1, 4)
    assert slow.ratio.estimate == pytest.approx(1.5)
    assert fact.sizes[0].beside is None
    assert fact.sizes[0].least_share is not None
    assert fact.sizes[0].least_share.estimate == pytest.approx(1 / 1.5)
    assert "pair 1-4 takes 1.50 times" in sentence(fact, varied(found))
    assert "pair 1-4 takes 1.50 times" in headline(fact, varied(found))


def test_the_last_of_an_odd_number_of_ranks_is_in_no_pair() -> None:
    found = evidence([many(ranks=5)], by_pattern(), cores=8, of=ranks_take(1.0, 2.0, 1.0, 2.0, 0.0))
    (fact,) = pairs(found)
    assert fact.pairs == 2
    assert fact.sizes[0].slowest[0].ranks == (1, 3)
    assert "4 of 5 ranks" in sentence(fact, ("ranks",))


def test_round_trips_at_once_are_so_many_times_as_long_as_one() -> None:
    cells = [alone("pingpong"), many("multi-pingpong")]
    found = evidence(cells, by_pattern(multi_pingpong=1.25), cores=4, of=ranks_take(1.0, 1.0, 1.0, 1.0))
    (fact,) = pairs(found)
    assert fact.sizes[0].beside is not None
    assert fact.sizes[0].beside.estimate == pytest.approx(1.25)
    assert "2 pairs at once take 1.25 times" in sentence(fact, varied(found))


def test_a_sender_that_waits_longest_is_named_by_its_rank() -> None:
    cells = [alone(), many("incast")]
    found = evidence(cells, by_pattern(incast=0.8), cores=4, of=ranks_take(2.0, 1.0, 1.0, 1.8))
    (fact,) = pairs(found)
    assert (fact.pairs, fact.rooted) == (3, True)
    assert fact.sizes[0].slowest[0].ranks == (3,)
    text = sentence(fact, varied(found))
    assert "3 ranks and one root carry 1.25 times" in text
    assert "rank 3 takes 1.80 times" in text


def test_that_no_pair_crosses_the_hosts_is_said() -> None:
    mixed = "h1,h2,h1,h2"
    cells = [alone(placement=mixed), many(placement=mixed)]
    found = evidence(cells, by_pattern(multi_stream=0.5), cores=4, of=ranks_take(1.0, 1.0, 1.0, 1.0))
    (fact,) = pairs(found)
    assert (fact.hosts, fact.crossing, fact.unlike) == (2, 0, True)
    assert fact.sizes[0].beside is None
    text = sentence(fact, varied(found))
    assert "no pair crosses the 2 hosts" in text
    assert remedy(fact) == "--placement with a block of ranks on each host crosses them"
    assert "no ratio to stream unidirectional, whose two ranks are on two hosts while no pair is" in text


def test_senders_beside_their_root_are_not_told_to_take_the_place_that_they_have() -> None:
    cells = [alone(), many("incast")]
    found = evidence(cells, by_pattern(incast=0.8), cores=4, of=ranks_take(2.0, 1.0, 1.0, 1.8))
    (fact,) = pairs(found)
    within = replace_fields(fact, hosts=2, crossing=0)
    assert "no message crosses the 2 hosts" in sentence(within, varied(found))
    assert remedy(within) == "more --senders, or another --order, cross hosts"


def test_pairs_across_hosts_are_held_against_such_a_pair_alone() -> None:
    blocks = "h1,h1,h2,h2"
    inside = alone(placement=blocks)
    outside = alone(placement=blocks, pair="0-2", pairing="serial")
    for base, unlike in (([inside], True), ([inside, outside], False)):
        found = evidence(
            [*base, many(placement=blocks)],
            by_pattern(multi_stream=0.5),
            cores=4,
            of=ranks_take(1.0, 1.0, 1.0, 1.0),
        )
        (fact,) = pairs(found)
        assert (fact.hosts, fact.crossing, fact.unlike) == (2, 2, unlike)
        assert (fact.sizes[0].beside is None) == unlike


def test_pairs_of_a_group_are_named_by_the_ranks_of_the_job() -> None:
    few = many(ranks=8, senders=2, group="0,1,4,5")
    (fact,) = pairs(evidence([alone(ranks=8), few], by_pattern(), cores=8, of=ranks_take(1, 1, 1, 3)))
    assert fact.pairs == 2
    assert [slow.ranks for slow in fact.sizes[0].slowest] == [(1, 5)]


def test_fewer_senders_of_the_same_pattern_are_told_by_their_own_topic() -> None:
    cells = [many(senders=number, group=group) for number, group in ((1, "0,2"), (0, ""))]
    found = evidence(cells, by_pattern(), cores=4, of=ranks_take(1.0, 1.0, 1.0, 1.0))
    assert not [*pairs(found)]
    assert [*senders(found)]


@pytest.mark.parametrize(("slower", "told"), [(1.02, False), (1.06, True)])
def test_how_alike_pairs_are_is_told_beyond_the_margin(slower: float, told: bool) -> None:
    found = evidence(
        [alone(), many()], by_pattern(multi_stream=0.5), cores=4, of=ranks_take(1.0, 1.0, 1.0, slower)
    )
    (fact,) = pairs(found)
    assert ("of the rate of the fastest" in sentence(fact, varied(found))) == told


def test_one_pair_without_another_says_nothing() -> None:
    found = evidence([many(ranks=2)], by_pattern(), of=ranks_take(1.0, 1.0))
    assert not [*pairs(found)]


def test_one_pair_is_as_one_pair_alone() -> None:
    found = evidence([alone(ranks=2), many(ranks=2)], by_pattern(), of=ranks_take(1.0, 1.0))
    (fact,) = pairs(found)
    assert (fact.pairs, fact.sizes[0].least_share) == (1, None)
    assert fact.sizes[0].beside is not None
    assert fact.sizes[0].beside.verdict == "same"
    assert "1 pair carries 1.0000 times" in sentence(fact, varied(found))


def test_smallest_and_largest_size_are_told() -> None:
    cells = [of(size=size) for size in (8, 1024, 65536) for of in (alone, many)]
    found = evidence(cells, by_pattern(multi_stream=0.5), cores=4, of=ranks_take(1.0, 1.0, 1.0, 1.0))
    (fact,) = pairs(found)
    assert [one.bytes for one in fact.sizes] == [8, 1024, 65536]
    text = sentence(fact, varied(found))
    assert "at 8 B" in text
    assert "at 64 KiB" in text
    assert rests_on(fact) == {many(size=size) for size in (8, 1024, 65536)}


def test_of_pairs_of_which_some_cross_hosts_it_is_told_how_many() -> None:
    found = evidence([alone(), many()], by_pattern(multi_stream=0.5), cores=4, of=ranks_take(1, 1, 1, 1))
    (fact,) = pairs(found)
    some = replace_fields(fact, hosts=2, crossing=1, unlike=True)
    mixed = "no ratio to stream unidirectional: 1 of 2 pairs cross hosts, the others do not"
    assert sentence(some, varied(found)).endswith(mixed)
    assert remedy(some) == ""
    across = replace_fields(fact, hosts=2, crossing=2, unlike=True)
    assert sentence(across, varied(found)).endswith("whose two ranks share a host while these cross")
    assert remedy(across) == 'in a plan, pairs = "tournament" measures all pairs alone'


def test_one_round_trip_at_once_takes_and_several_take() -> None:
    cells = [alone("pingpong", ranks=2), many("multi-pingpong", ranks=2)]
    found = evidence(cells, by_pattern(multi_pingpong=1.25), cores=4, of=ranks_take(1.0, 1.0))
    (fact,) = pairs(found)
    assert "1 pair at once takes 1.25 times" in sentence(fact, varied(found))


def test_the_root_of_senders_is_the_one_that_was_asked_for() -> None:
    of = BY_NAME["incast"]
    assert members_of(many("incast", root="2"), of) == [(2, 0), (2, 1), (2, 3)]
    assert members_of(many("incast", root="rotating"), of) == [(0, 1), (0, 2), (0, 3)]
