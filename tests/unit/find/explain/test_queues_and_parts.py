"""What queues, blocks and partitions cost: what was planted is found, and said as a ratio to none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mpigauge.document.document import AUTOMATIC
from mpigauge.find.explain.queues_and_parts import layouts, partitions, queues
from mpigauge.find.explain.table import varied_in
from mpigauge.find.explain.topics import TOPICS
from tests.made import cell
from tests.unit.find.explain.informative import facts, sentence, told_of

if TYPE_CHECKING:
    from mpigauge.plan.model import Cell

ENTRY_NS = 3.0
DEPTHS = (0, 16, 512, 4096)


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
    assert "behind a queue of 512 6.1" in said
    assert "as long as behind none" in said
    assert "3.0" in said.rpartition("; ")[2]
    assert said.endswith("for each entry")


def test_a_cost_that_bends_is_not_said_for_each_entry() -> None:
    evidence = told_of({behind(depth): 300 + 0.01 * depth**2 for depth in DEPTHS}, noise=0.004)
    (fact,) = facts(queues, evidence)
    assert fact.entry_s is None
    assert "entry" not in sentence("matching", fact, evidence)


def test_a_queue_that_costs_nothing_is_said_to_make_no_difference() -> None:
    evidence = told_of({behind(depth): 300.0 for depth in DEPTHS}, noise=0.001)
    (fact,) = facts(queues, evidence)
    assert sentence("matching", fact, evidence).endswith(
        "no difference behind a queue of 16 to 4096 to behind none"
    )


def test_of_several_sizes_a_queue_is_told_at_the_smallest_and_of_each_mode() -> None:
    times = {
        behind(depth, mode, size): 300.0 + depth
        for depth in (0, 512)
        for mode in ("posted", "unexpected")
        for size in (8, 64)
    }
    found = facts(queues, told_of(times))
    assert {(fact.cell.mode, fact.cell.bytes) for fact in found} == {("posted", 8), ("unexpected", 8)}


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
    found = {fact.cell.mode: fact for fact in facts(layouts, evidence)}
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
    (fact,) = (one for one in facts(layouts, evidence) if one.cell.mode == "derived")
    assert "in blocks of 8 B, every 64 B 3.0" in sentence("layout", fact, evidence)


def test_partitions_computed_before_the_clock_started_tell_what_was_delivered_early() -> None:
    times = {cell("early-bird", 65536, "send"): 1000.0}
    for number in (4, 8):
        times[cell("early-bird", 65536, "partitioned", partitions=number)] = 2000.0 / number
    evidence = told_of(times, noise=0.002)
    (fact,) = facts(partitions, evidence)
    assert fact.arrived == pytest.approx(0.75, abs=0.01)
    said = sentence("partitioned", fact, evidence)
    assert "as long as send" in said
    assert said.endswith("; 75 % had arrived when the last of 8 partitions became ready")
    line = TOPICS["partitioned"].headline(fact, varied_in(evidence.rows), AUTOMATIC)
    assert line.endswith("64 KiB: 75 % had arrived when the last of 8 partitions became ready")


def test_of_partitions_that_are_sent_at_once_nothing_is_delivered_early() -> None:
    times = {cell("partitioned", 65536, "persistent"): 1000.0, in_partitions(8, size=65536): 500.0}
    (fact,) = facts(partitions, told_of(times, noise=0.002))
    assert fact.arrived is None


def test_partitions_are_held_against_a_message_without_at_the_largest_size() -> None:
    times: dict[Cell, float] = {}
    for size in (4096, 65536):
        times[cell("partitioned", size, "persistent")] = 1000.0
        times |= {in_partitions(number, size=size): 1000 + 50.0 * number for number in (1, 8, 64)}
    evidence = told_of(times, noise=0.002)
    (fact,) = facts(partitions, evidence)
    assert fact.cell.bytes == 65536
    assert [step.number for step in fact.steps] == [1, 8, 64]
    said = sentence("partitioned", fact, evidence)
    assert "in 8 partitions 1.40" in said
    assert "as long as persistent" in said
    line = TOPICS["partitioned"].headline(fact, varied_in(evidence.rows), AUTOMATIC)
    assert "in 64 partitions 4.2" in line
