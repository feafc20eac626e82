"""Groups of ranks: their texts, the rules that make them, orders and senders, and how they are planned."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from mpigauge.errors import UsageError
from mpigauge.plan.buffers import needs_of
from mpigauge.plan.cells import cells_of
from mpigauge.plan.groups import groups_of, ordered, ranks_in
from mpigauge.plan.hosts import Host
from mpigauge.plan.kernel_plan import Limits, kernel_plan
from mpigauge.plan.model import Cell, Measure, Plan
from mpigauge.plan.patterns import KernelDescription, known
from mpigauge.plan.rank_lists import group_text, members_of
from mpigauge.plan.visit_order import PlannedVisit, complete_steps, time_slots, visits_of
from tests.fakes.law import describe
from tests.fakes.plan import read_plan

LISTS = st.lists(st.integers(0, 200), min_size=1, max_size=40, unique=True)
LIMITS = Limits(1.0, 10.0)
RANKS = 8


def description() -> KernelDescription:
    return msgspec.convert(describe(), KernelDescription)


def planned(*measures: Measure, ranks: int = 8) -> tuple[list[Cell], Plan]:
    """The cells of a plan, without the floor, and the plan."""
    plan = Plan(measures, ranks=(ranks,), visits=4)
    cells = cells_of(plan, description(), "openmpi", "5.0.11", "here").cells
    return [cell for cell in cells if cell.pattern != "null"], plan


# ---- Texts ---------------------------------------------------------------------------------------


@given(LISTS)
def test_a_group_is_read_as_it_was_written(ranks: list[int]) -> None:
    assert members_of(group_text(ranks)) == tuple(ranks)


@pytest.mark.parametrize(
    ("ranks", "text"),
    [([0, 1], "0,1"), ([0, 1, 2], "0-2"), ([0, 8, 16], "0-16:8"), ([3, 2, 1], "3,2,1"), ([5], "5")],
)
def test_ranks_evenly_apart_are_a_range(ranks: list[int], text: str) -> None:
    assert group_text(ranks) == text


@pytest.mark.parametrize("text", ["", "a", "1,", "3-1", "0-4:0", "0,0", "0-3,2", "1-2-3", "-1"])
def test_what_is_no_group_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="rank"):
        members_of(text)


# ---- Rules ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "wanted"),
    [
        ("2", ["0-3", "4-7"]),
        ("mod:2", ["0-6:2", "1-7:2"]),
        ("host", ["0,2,5", "1,3,4,6,7"]),
        ("0,2+7,5,3", ["0,2", "7,5,3"]),
    ],
)
def test_a_rule_makes_groups(rule: str, wanted: list[str]) -> None:
    hosts = ["h1" if rank in {0, 2, 5} else "h2" for rank in range(8)]
    assert [group_text(group) for group in groups_of(rule, RANKS, hosts, "here")] == wanted


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("1", "makes one group"),
        ("3", "no 3 groups of equal size"),
        ("8", "a group of rank 0 alone"),
        ("mod:1", "makes one group"),
        ("host", "makes one group"),
        ("0-3+3-7", "rank 3 is in two groups"),
        ("0-3+4-8", "has no rank 8"),
        ("racks", "no list of ranks"),
        ("0-1+2", "a group of rank 2 alone"),
    ],
)
def test_a_rule_that_makes_none_is_refused(rule: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        groups_of(rule, RANKS, (), "here")


@pytest.mark.parametrize(
    ("rule", "words", "offers"), [("0-1", "makes one group of 2 ranks", True), ("host", "of 8 ranks", False)]
)
def test_one_group_is_told_by_its_size_with_what_makes_more(rule: str, words: str, offers: bool) -> None:
    with pytest.raises(UsageError, match=words) as refused:
        groups_of(rule, RANKS, (), "here")
    assert ("write host" in refused.value.hint) == offers


def test_of_several_placements_the_one_that_makes_one_group_is_named() -> None:
    table = Measure("allreduce", sizes="8", groups=("host",))
    hosts, placements = (Host("h1", 4), Host("h2", 4)), ("h1,h1,h2,h2", "h1,h1,h1,h1")
    plan = Plan((table,), ranks=(4,), visits=4, hosts=hosts, placements=placements)
    with pytest.raises(UsageError, match="here: placement h1,h1,h1,h1: --groups host makes one group"):
        cells_of(plan, description(), "openmpi", "5.0.11", "here")


@given(st.integers(2, 40), st.integers(2, 8))
def test_every_rank_is_in_one_group(size: int, count: int) -> None:
    for rule, ranks in ((str(count), size * count), (f"mod:{count}", size * count)):
        groups = groups_of(rule, ranks, (), "here")
        assert sorted(rank for group in groups for rank in group) == list(range(ranks))
        assert len({len(group) for group in groups}) == 1


# ---- Orders --------------------------------------------------------------------------------------


@given(st.integers(1, 60), st.sampled_from(["", "interleaved", "random:3"]))
def test_an_order_has_every_rank_once(ranks: int, order: str) -> None:
    assert sorted(ordered(order, range(ranks), (), "here")) == list(range(ranks))


def test_interleaved_ranks_are_on_different_hosts_or_in_different_halves() -> None:
    assert ordered("interleaved", range(6), (), "here") == (0, 3, 1, 4, 2, 5)
    hosts = ["a"] * 3 + ["b"] * 3
    order = ordered("interleaved", range(6), hosts, "here")
    assert all(hosts[one] != hosts[other] for one, other in pairwise(order))


def test_a_random_order_follows_from_its_seed() -> None:
    one, same, other = (ordered(f"random:{seed}", range(20), (), "here") for seed in (1, 1, 2))
    assert one == same
    assert one != other


def test_another_word_is_no_order() -> None:
    with pytest.raises(UsageError, match="no order of ranks is called 'sorted'"):
        ordered("sorted", range(4), (), "here")


# ---- Plans ---------------------------------------------------------------------------------------


def test_groups_are_measured_at_once_and_each_alone() -> None:
    cells, _ = planned(Measure("allreduce", sizes="8", groups=("2",)))
    assert [(cell.groups, cell.group) for cell in cells] == [
        ("", "0-3"),
        ("", "4-7"),
        ("2", "0-3"),
        ("2", "4-7"),
    ]


def test_two_rules_share_what_is_alone() -> None:
    cells, _ = planned(Measure("barrier", groups=("2", "0-3+6,7")))
    assert Counter(cell.groups for cell in cells) == {"": 3, "2": 2, "0-3+6,7": 2}


def test_what_starts_together_alone_has_groups() -> None:
    cells, _ = planned(Measure("ring", sizes="8", groups=("2",)))
    assert [(cell.groups, cell.group) for cell in cells] == [("", "")]


def test_the_natural_order_is_what_it_is_without_one() -> None:
    (plain,), _ = planned(Measure("ring", sizes="8"))
    cells, _ = planned(Measure("ring", sizes="8", orders=("natural", "interleaved")))
    assert cells == [plain, replace(plain, order="interleaved", group="0,4,1,5,2,6,3,7")]


def test_the_same_ranks_are_measured_once_and_the_other_order_is_named() -> None:
    plan = Plan((Measure("ring", sizes="8", orders=("natural", "interleaved", "random:3")),), ranks=(2, 8))
    found = cells_of(plan, description(), "openmpi", "5.0.11", "here")
    orders = [(cell.ranks, cell.order) for cell in found.cells if cell.pattern == "ring"]
    assert {(8, "random:3"), (8, "interleaved"), (2, "")} <= {*orders}
    gone = {(one.cell.ranks, one.cell.order): one.reason for one in found.left_out}
    assert {*orders} | gone.keys() == {
        (n, order) for n in (2, 8) for order in ("", "interleaved", "random:3")
    }
    assert gone[2, "interleaved"] == (
        "the interleaved order of 2 ranks is their natural order, which is measured"
    )


def test_the_same_groups_of_two_rules_are_measured_once() -> None:
    plan = Plan((Measure("barrier", groups=("2", "4-7+0-3", "0-3+4,5")),), ranks=(8,))
    found = cells_of(plan, description(), "openmpi", "5.0.11", "here")
    assert [cell.groups for cell in found.cells if cell.groups] == ["2", "2", "0-3+4,5", "0-3+4,5"]
    assert {(one.cell.groups, one.reason) for one in found.left_out} == {
        ("4-7+0-3", "--groups 4-7+0-3 makes the groups of --groups 2, which is measured")
    }


def test_fewer_senders_keep_their_partners() -> None:
    cells, _ = planned(Measure("multi-stream", sizes="8", senders=(1, 2, "all")))
    assert [(cell.senders, cell.group) for cell in cells] == [(1, "0,4"), (2, "0,1,4,5"), (4, "")]


@pytest.mark.parametrize("asked", [5, 100])
def test_senders_are_some_of_the_ranks(asked: int) -> None:
    with pytest.raises(UsageError, match=f"cannot have {asked} senders"):
        planned(Measure("multi-stream", sizes="8", senders=(asked,)))


def test_groups_at_once_have_all_their_senders() -> None:
    with pytest.raises(UsageError, match="cannot have groups at once and fewer senders"):
        planned(Measure("multi-stream", sizes="8", senders=(1,), groups=("2",)))


def test_a_set_is_left_out_with_the_group_that_cannot_be_measured() -> None:
    rule = "0,1+2-7"
    plan = Plan((Measure("gatherv", sizes="8,500MiB", groups=(rule,)),), ranks=(8,))
    found = cells_of(plan, description(), "openmpi", "5.0.11", "here")
    counts = {(cell.groups, cell.group, cell.bytes) for cell in found.cells if cell.pattern == "gatherv"}
    large = 500 * 2**20
    assert (rule, "0,1", large) not in counts
    assert ("", "0,1", large) in counts
    reasons = {(one.cell.groups, one.cell.group): one.reason for one in found.left_out}
    assert reasons.keys() == {("", "2-7"), (rule, "2-7"), (rule, "0,1")}
    assert reasons[rule, "0,1"] == f"ranks 0,1 are measured at once with ranks 2-7: {reasons[rule, '2-7']}"


def test_a_root_is_a_rank_of_every_group() -> None:
    with pytest.raises(UsageError, match="rank 4 cannot be the root of 4 ranks"):
        planned(Measure("bcast", sizes="8", groups=("2",), roots=(4,)))


def test_groups_at_once_are_in_one_step() -> None:
    cells, plan = planned(Measure("allreduce", sizes="8,64", groups=("2",)))
    visits = visits_of(cells, plan, description(), 1)
    steps: dict[int | None, list[PlannedVisit]] = {}
    for visit in visits:
        steps.setdefault(visit.step, []).append(visit)
    assert None not in steps
    for step in steps.values():
        assert [visit.id for visit in step] == list(range(step[0].id, step[0].id + len(step)))
        assert [visit.cell.group for visit in step] == (
            ["0-3", "4-7"] if step[0].cell.groups else [step[0].cell.group]
        )
        assert len({visit.cell.bytes for visit in step}) == 1
    assert len(steps) == plan.visits * (2 * 2 + 2)
    assert time_slots(cells) == 2 * 2 + 2


def test_a_group_without_the_others_of_its_step_is_not_measured() -> None:
    cells, plan = planned(Measure("allreduce", sizes="8", groups=("2",)))
    every = visits_of(cells, plan, description(), 1)
    beside = next(visit for visit in every if visit.cell.groups)
    left = complete_steps([visit for visit in every if visit != beside], every)
    assert [visit for visit in every if visit not in left] == [
        visit for visit in every if visit.step == beside.step
    ]
    assert complete_steps(every, every) == every


def test_the_kernel_is_told_the_groups_before_their_visits() -> None:
    cells, plan = planned(Measure("allreduce", sizes="8", groups=("mod:2",)))
    text = kernel_plan(visits_of(cells, plan, description(), 1), plan, LIMITS, 2)
    lines = text.splitlines()
    assert [line for line in lines if line.startswith("group")] == lines[1:3]
    assert {line.partition("ranks=")[2] for line in lines[1:3]} == {"0-6:2", "1-7:2"}
    _, visits = read_plan(text.splitlines(keepends=True))
    assert {tuple(visit["members"]) for visit in visits} == {(0, 2, 4, 6), (1, 3, 5, 7)}


@given(st.integers(2, 30), st.data())
def test_the_kernel_reads_the_groups_that_were_written(ranks: int, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(ranks)))
    members = order[: data.draw(st.integers(2, ranks))]
    cell = Cell("barrier", "blocking", 0, ranks, "openmpi", "5", sync="common", group=group_text(members))
    text = kernel_plan([PlannedVisit(0, cell, 0)], Plan(measure=()), LIMITS, 2)
    _, (visit,) = read_plan(text.splitlines(keepends=True))
    assert visit["members"] == members


def test_a_plan_without_groups_says_nothing_of_them() -> None:
    cells, plan = planned(Measure("allreduce", sizes="8"), Measure("pingpong", sizes="8", pairs="tournament"))
    text = kernel_plan(visits_of(cells, plan, description(), 1), plan, LIMITS, 2)
    assert "group" not in text


def test_only_ranks_of_a_group_need_memory() -> None:
    whole = Cell("bcast", "blocking", 64, 8, "openmpi", "5", root="1")
    ranks = [(need.first, need.end) for need in needs_of(replace(whole, group="1,3-5"), description(), 0)]
    assert ranks == [(1, 2), (3, 6), (3, 4)]


def test_a_cell_has_no_ranks_that_its_job_has_not() -> None:
    with pytest.raises(ValueError, match="is not a group of 4 ranks"):
        Cell("bcast", "blocking", 8, 4, "openmpi", "5", group="2-4")


def test_what_the_kernel_says_decides_where_senders_can_be_chosen() -> None:
    assert {name for name, pattern in known().items() if pattern.senders} >= {"multi-stream"}


@pytest.mark.parametrize(
    ("pattern", "more", "ranks"),
    [
        ("pingpong", {}, (0, 1)),
        ("pingpong", {"pair": "1-3"}, (1, 3)),
        ("ring", {}, (0, 1, 2, 3)),
        ("ring", {"group": "2,0,3"}, (2, 0, 3)),
    ],
)
def test_the_ranks_that_take_part_are_those_of_the_pattern_the_pair_or_the_group(
    pattern: str, more: dict[str, str], ranks: tuple[int, ...]
) -> None:
    whole = Cell(pattern, "standard", 8, 4, "openmpi", "5")
    assert tuple(ranks_in(replace(whole, **more), known()[pattern])) == ranks


def test_a_group_has_no_more_ranks_in_all_than_a_job_can_have() -> None:
    with pytest.raises(ValueError, match="more than"):
        members_of(",".join(["0-9999999"] * 1000))
