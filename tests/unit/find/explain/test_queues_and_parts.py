"""What queues, blocks and partitions cost: what was planted is found, and said as a ratio to none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.document.cell_names import varied_in
from mpigauge.document.document import AUTOMATIC
from mpigauge.find.explain.queues_and_parts import layouts, partitions, queues
from mpigauge.find.explain.topics import TOPICS
from mpigauge.stats.interval import Number
from tests.made import cell
from tests.unit.find.explain.informative import facts, sentence, told_of

if TYPE_CHECKING:
    from mpigauge.find.explain.evidence import Evidence
    from mpigauge.plan.model import Cell

ENTRY_NS = 3.0
DEPTHS = (0, 16, 512, 4096)


def headline(topic: str, fact: Any, evidence: Evidence) -> str:
    return TOPICS[topic].headline(fact, varied_in(evidence.rows), AUTOMATIC)


def behind(depth: int, mode: str = "posted", size: int = 8) -> Cell:
    return cell("matching", size, mode, depth=depth)


def in_blocks(block: int, mode: str, size: int = 4096) -> Cell:
    return cell("layout", size, mode, block_bytes=block, stride_bytes=2 * block)


def in_partitions(number: int, mode: str = "whole", size: int = 4096) -> Cell:
    return cell("partitioned", size, mode, partitions=number)


def test_each_depth_is_held_against_none_and_a_straight_line_has_a_cost_of_an_entry() -> None:
    evidence = told_of({behind(depth): 300 + ENTRY_NS * depth for depth in DEPTHS}, noise=0.004)
    (fact,) = facts(queues, evidence)
    assert [step.number for step in fact.steps] == [16, 512, 4096]
    for step in fact.steps:
        assert step.ratio.estimate == pytest.approx(1 + ENTRY_NS * step.number / 300, rel=0.02)
    assert fact.entry_s == pytest.approx(ENTRY_NS * 1e-9, rel=0.1)
    said = sentence("matching", fact, evidence)
    assert "behind 512 entries 6.1" in said
    assert "as long as behind none" in said
    assert "3.0" in said.rpartition("; ")[2]
    assert said.endswith("for each entry")
    assert headline("matching", fact, evidence).endswith(f"as long as behind none;{said.rpartition(';')[2]}")


def test_a_cost_that_bends_is_said_on_average() -> None:
    evidence = told_of({behind(depth): 300 + 0.01 * depth**2 for depth in DEPTHS}, noise=0.004)
    (fact,) = facts(queues, evidence)
    assert fact.entry_s is None
    told = sentence("matching", fact, evidence), headline("matching", fact, evidence)
    assert all(re.search(r"; on average 4[01]\.\d ns per entry$", said) for said in told)


def test_a_queue_that_costs_nothing_is_said_to_make_no_difference() -> None:
    evidence = told_of({behind(depth): 300.0 for depth in DEPTHS}, noise=0.001)
    (fact,) = facts(queues, evidence)
    assert sentence("matching", fact, evidence).endswith(
        "behind 16 to 4096 entries against none: no difference"
    )
    assert headline("matching", fact, evidence) == sentence("matching", fact, evidence)


def test_of_several_sizes_a_queue_is_told_at_the_smallest_and_of_each_mode() -> None:
    times = {
        behind(depth, mode, size): 300.0 + depth
        for depth in (0, 512)
        for mode in ("posted", "unexpected")
        for size in (8, 64)
    }
    found = facts(queues, told_of(times))
    assert {(fact.of.cell.mode, fact.of.cell.bytes) for fact in found} == {("posted", 8), ("unexpected", 8)}


def test_without_depth_0_nothing_is_said() -> None:
    assert not facts(queues, told_of({behind(depth): 300.0 + depth for depth in (16, 512)}))


def test_blocks_are_held_against_those_copied_by_hand_and_these_against_one_block() -> None:
    times = {cell("layout", 4096, "contiguous"): 400.0}
    for block in (8, 64, 512):
        blocks = 4096 // block
        times |= {
            in_blocks(block, "manual"): 400.0 + 2 * blocks,
            in_blocks(block, "derived"): 400.0 + 2 * blocks,
        }
    times[in_blocks(8, "derived")] = 15 * times[in_blocks(8, "manual")]
    evidence = told_of(times, noise=0.002)
    found = {fact.of.cell.mode: fact for fact in facts(layouts, evidence)}
    said = sentence("layout", found["derived"], evidence)
    assert "in blocks of 8 B 15" in said
    assert "as long as manual" in said
    assert "no difference in blocks of 64 B to 512 B" in said
    assert found["manual"].base.mode == "contiguous"
    assert found["manual"].steps[0].ratio.estimate == pytest.approx((400 + 1024) / 400, rel=0.02)


def test_strides_of_one_block_are_told_apart() -> None:
    times: dict[Cell, float] = {}
    for stride, factor in ((16, 1.0), (64, 3.0)):
        of = {"block_bytes": 8, "stride_bytes": stride}
        times |= {
            cell("layout", 4096, "manual", **of): 500.0,
            cell("layout", 4096, "derived", **of): 500 * factor,
        }
    evidence = told_of(times, noise=0.002)
    (fact,) = (one for one in facts(layouts, evidence) if one.of.cell.mode == "derived")
    assert "in blocks of 8 B, every 64 B 3.0" in sentence("layout", fact, evidence)


def test_partitions_computed_before_the_clock_started_tell_what_was_delivered_early() -> None:
    times = {cell("early-bird", 65536, "send"): 1000.0}
    for number in (4, 8):
        times[cell("early-bird", 65536, "partitioned", partitions=number)] = 2000.0 / number
    evidence = told_of(times, noise=0.02)
    (fact,) = facts(partitions, evidence)
    ratio = fact.steps[-1].ratio
    assert fact.hidden == Number(1 - ratio.estimate, 1 - ratio.high, 1 - ratio.low, ratio.launches)
    said = sentence("partitioned", fact, evidence)
    assert "as long as send" in said
    over = r"7\d % \(7\d – 7\d %\) of send's time was over when the last of 8 partitions became ready"  # noqa: RUF001
    over += r", 2\d\d ns instead of [19]\d+ (ns|µs)"
    assert re.search(f"; {over}$", said)
    assert re.search(f"64 KiB: {over}$", headline("partitioned", fact, evidence))


def test_partitions_are_held_against_the_fewest_where_no_whole_message_was_measured() -> None:
    times = {
        cell("early-bird", 2**22, "partitioned", partitions=number): time
        for number, time in ((1, 576_000.0), (8, 90_000.0), (64, 26_300.0))
    }
    evidence = told_of(times, noise=0.002)
    (fact,) = facts(partitions, evidence)
    assert [step.number for step in fact.steps] == [8, 64]
    said = headline("partitioned", fact, evidence)
    assert "% of 1 partition's time was over when the last of 64 partitions became ready, 26" in said
    assert "µs instead of 57" in said
    assert "in 8 partitions 0.156" in sentence("partitioned", fact, evidence)
    assert "as long as in 1 partition" in sentence("partitioned", fact, evidence)


def test_of_partitions_that_are_sent_at_once_nothing_is_delivered_early() -> None:
    times = {cell("partitioned", 65536, "persistent"): 1000.0, in_partitions(8, size=65536): 500.0}
    (fact,) = facts(partitions, told_of(times, noise=0.002))
    assert fact.hidden is None


def test_partitions_are_held_against_a_message_without_at_the_largest_size() -> None:
    times: dict[Cell, float] = {}
    for size in (4096, 65536):
        times[cell("partitioned", size, "persistent")] = 1000.0
        times |= {in_partitions(number, size=size): 1000 + 50.0 * number for number in (1, 8, 64)}
    evidence = told_of(times, noise=0.002)
    (fact,) = facts(partitions, evidence)
    assert fact.of.cell.bytes == 65536
    assert [step.number for step in fact.steps] == [1, 8, 64]
    said = sentence("partitioned", fact, evidence)
    assert "in 8 partitions 1.40" in said
    assert "as long as persistent" in said
    assert "in 64 partitions it takes 4.2" in headline("partitioned", fact, evidence)


@pytest.mark.parametrize(
    ("launches", "ends"),
    [(3, "; a verdict needs 5 launches"), (8, r"; on average 10\.\d ns per entry")],
    ids=["few", "enough"],
)
def test_a_large_ratio_of_few_launches_is_told_with_what_a_verdict_needs(launches: int, ends: str) -> None:
    evidence = told_of({behind(0): 100.0, behind(512): 5400.0}, launches=launches)
    (fact,) = facts(queues, evidence)
    assert (fact.steps[0].ratio.verdict == "undecided") == (launches == 3)
    said = headline("matching", fact, evidence)
    assert re.search(r"8 B: behind 512 entries it takes 5\d\.\d times \(.*\) as long as behind none", said)
    for one in (said, sentence("matching", fact, evidence)):
        assert re.search(f"as long as behind none{ends}$", one)


def test_of_few_launches_whose_interval_has_1_in_it_nobody_can_tell() -> None:
    evidence = told_of({behind(0): 100.0, behind(16): 101.0}, launches=3, noise=0.05)
    (fact,) = facts(queues, evidence)
    said = "behind 16 entries against none: undecided"
    assert headline("matching", fact, evidence).endswith(said)
    assert sentence("matching", fact, evidence).endswith(said)


def test_a_ratio_that_is_not_known_is_no_number_of_times() -> None:
    evidence = told_of({behind(0): 100.0, behind(512): 2000.0}, launches=4, noise=0.5)
    (fact,) = facts(queues, evidence)
    assert headline("matching", fact, evidence).endswith(
        "behind 512 entries against none: how many times as long is not known"
    )


def test_values_without_a_difference_leave_out_those_between_that_differ() -> None:
    slow = {0: 100.0, 1: 100.0, 16: 300.0, 512: 100.0, 4096: 100.0}
    evidence = told_of({behind(depth): time for depth, time in slow.items()}, noise=0.001)
    (fact,) = facts(queues, evidence)
    assert sentence("matching", fact, evidence).endswith("no difference behind 1 and 512 to 4096 entries")
