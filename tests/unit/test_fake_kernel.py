"""The fake kernel says what the real one says, in lines of the same shape, and its numbers follow its law."""

from __future__ import annotations

from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from mpigauge.find.memory_costs import cache_levels
from mpigauge.mpi import find, kernel
from mpigauge.plan.cells import cells_of
from mpigauge.plan.kernel_plan import Limits, kernel_plan
from mpigauge.plan.model import Measure, Plan
from mpigauge.plan.patterns import KernelDescription
from mpigauge.plan.visit_order import PlannedVisit, visits_of
from mpigauge.result.environment import cores_allowed
from tests.fakes.law import COLLECTIVES, PATTERNS, SYNCS, describe, modes_of, operation_ns, parts_ns
from tests.fakes.lines import CLOCK_COST_NS
from tests.unit.kernel_launch import Line, answers_of_slow_cell, journal_of, plan_of, visits_in

if TYPE_CHECKING:
    from mpigauge.mpi.library import Library
    from tests.fakes.mpi import FakeMpi

PLAN = Plan(
    (
        Measure("pingpong", sizes="8"),
        Measure("stream", sizes="8"),
        Measure("exchange", modes=("blocking",), sizes="8,4MiB"),
        Measure("eager"),
        Measure("barrier"),
        Measure("bcast", modes=("nonblocking",), sizes="8", sync=("common", "barrier", "mpi_barrier")),
        Measure("allreduce", modes=("overlap",), sizes="8", tests=(0, 4)),
        Measure("message-overlap", modes=("both", "sender", "tested"), sizes="8"),
        Measure("bcast-rotating", sizes="8"),
        Measure("bcast-acked", sizes="8"),
        Measure("put", modes=("flush", "pscw"), sizes="8", rma_windows=("allocate", "create")),
        Measure("put-notify", sizes="8"),
        Measure("fetch_and_op", sizes="8"),
        Measure("contended", sizes="8"),
        Measure("progress", sizes="8", rma_windows=("allocate", "create")),
        Measure("reduce_local", sizes="8"),
        Measure("memcpy", sizes="8"),
        Measure("chase", sizes="4KiB"),
        Measure("crosscopy", sizes="8"),
        Measure("cacheline"),
    ),
    visits=4,
    rounds_max=40,
)
LATENCY_NS = 100
CARD_FACTS = {"speed", "mtu", "driver", "firmware"}
MAY_LACK = {
    "half_width",
    "corrupt",
    "line_ns",
    "line_worst_ns",
    "backwards",
    "machines",
    "by_card",
    *CARD_FACTS,
}
"""Lines from core to core are given up where other work has a core; older kernels know no machines; what a
system does not say of a card is left out."""


def shapes_of(library: Library) -> dict[str, Any]:
    """Keys in their order and types of values of a short launch; left out are those that a line may lack.

    For each kind of line, and of visits for each pattern, mode and start.
    """
    cells = cells_of(PLAN, kernel.describe(library), library.name, library.version, "the test").cells
    visits = visits_of(cells, PLAN, kernel.describe(library), 1)
    text = kernel_plan(visits, PLAN, Limits(0.01, 60), cores_allowed())

    def kind(line: Line) -> str:
        first = next(iter(line))
        return f"{first} of {_label(visits[line[first]])}" if first == "visit" else first

    def shape(value: Any) -> Any:
        if isinstance(value, dict):
            return [(key, shape(inner)) for key, inner in value.items() if key not in MAY_LACK]
        if isinstance(value, list):
            return [shape(value[0] if value else 0)]
        return "number" if isinstance(value, float) or type(value) is int else type(value).__name__

    return {kind(line): shape(line) for line in journal_of(library, text)}


def _label(visit: PlannedVisit) -> str:
    return f"{visit.cell.pattern} {visit.cell.mode} {visit.cell.sync}"


def sizes_of(pattern: str) -> tuple[int, ...]:
    """Some that a pattern can have."""
    traits = PATTERNS[pattern]
    return (64, 4096) if traits["moves_bytes"] or traits["spans_bytes"] else (0,)


def parts_of(mode: dict[str, Any]) -> dict[str, int]:
    """Numbers of a plan for the parts of its messages; 0 where it sends them whole."""
    blocks = (
        {"block_bytes": 8, "stride_bytes": 16} if mode["strided"] else {"block_bytes": 0, "stride_bytes": 0}
    )
    return {**blocks, "partitions": 8 if mode["partitioned"] else 0, "depth": 0}


# ---- As the real kernel --------------------------------------------------------------------------


def test_the_fake_describes_itself_as_a_kernel_does(openmpi: FakeMpi) -> None:
    assert kernel.describe(find.find_default()) == msgspec.convert(describe(openmpi.says), KernelDescription)


@pytest.mark.mpi
def test_the_real_journal_has_the_same_lines(request: pytest.FixtureRequest) -> None:
    real = shapes_of(find.find_default())
    real.pop("tick", None)  # which only a machine says that was slow
    request.getfixturevalue("openmpi")
    fake = shapes_of(find.find_default())
    assert {"launch", "clock", "begin", "eager", "blocked", "skip", "end"} <= fake.keys()
    assert {kind: shape for kind, shape in fake.items() if kind in real} == real


def test_every_measured_visit_has_a_shape_of_its_sampling(openmpi: FakeMpi) -> None:
    together = {"lead_ns", "late", "behind", "skew_ns", "root_ns", "local_ns"}
    for kind, shape in shapes_of(find.find_default()).items():
        if not kind.startswith("visit of "):
            continue
        pattern, mode, *_ = kind.removeprefix("visit of ").split(" ")
        keys = {key for key, _ in shape}
        assert keys & together == (together if PATTERNS[pattern]["sampled"]["starts_together"] else set())
        computes = "overlap" in {mode, *pattern.split("-")} or pattern == "progress"
        assert keys & {"pure_ns", "work_ns"} == ({"pure_ns", "work_ns"} if computes else set())


# ---- The law -------------------------------------------------------------------------------------


def _hidden_ns(pattern: str, mode: dict[str, Any], sample_ns: int) -> int:
    """What of a computation hides: of a message all, where the sender alone computes, else none of it."""
    if not mode["overlaps"]:
        return int(mode["work_times"] * sample_ns)
    if PATTERNS[pattern]["family"] == "message":
        return sample_ns if mode["computing"] == "send" else 0
    return sample_ns // 2


@pytest.mark.thorough
@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 5, 8])
def test_samples_follow_the_law_and_the_rules_of_their_sampling(openmpi: FakeMpi, ranks: int) -> None:
    cells = [
        (pattern, mode, size)
        for pattern, of in PATTERNS.items()
        for mode in of["modes"]
        for size in dict.fromkeys(min(size, mode["most_bytes"] or size) for size in sizes_of(pattern))
        if of["min_ranks"] <= ranks and pattern != "eager" and (not mode["needs_eager"] or size <= 64)
    ]
    parts = {(name, mode["name"]): parts_of(mode) for name, of in PATTERNS.items() for mode in of["modes"]}
    numbers = {of: " ".join(f"{key}={number}" for key, number in each.items()) for of, each in parts.items()}
    words = (
        f"{of} {mode['name']} {size} datatype=double op=sum {numbers[of, mode['name']]}"
        for of, mode, size in cells
    )
    text = plan_of(*words, ranks=ranks)
    found = visits_in(journal_of(find.find_default(), text, ranks))
    assert sorted(found) == list(range(len(cells)))
    for number, (pattern, described, size) in enumerate(cells):
        mode = described["name"]
        line, sampling = found[number], PATTERNS[pattern]["sampling"]
        active = PATTERNS[pattern]["active_ranks"] or ranks
        one_ns = operation_ns(pattern, mode, size, ranks, LATENCY_NS)
        one_ns += parts_ns({**parts[pattern, mode], "pattern": pattern, "mode": mode, "bytes": size})
        batch, sample_ns = line["batch"], one_ns * line["ops"]
        seen_ns = described["work_times"] * sample_ns - _hidden_ns(pattern, described, sample_ns)
        assert line["warmup_ns"] == [sample_ns] * 2
        assert line["samples_ns"] == [sample_ns + seen_ns] * len(line["samples_ns"])
        own = next(one["trips"] for one in PATTERNS[pattern]["modes"] if one["name"] == mode)
        trips, window = own or PATTERNS[pattern]["trips"], line["window"]
        in_call = {"window": window, "ranks": ranks, "repeats": 1}
        in_call |= {"pairs": window * (ranks // 2), "others": window * (ranks - 1)}
        assert line["ops"] == batch * in_call.get(trips, trips)
        if sampling in {"floor", "common", "prepared"}:
            in_a_row = next(one["in_a_row"] for one in PATTERNS[pattern]["modes"] if one["name"] == mode)
            assert (batch > 1) == (in_a_row and one_ns < 100 * CLOCK_COST_NS)
        alone = next(one["alone"] for one in PATTERNS[pattern]["modes"] if one["name"] == mode)
        assert batch == 1 or not alone
        if PATTERNS[pattern]["sampled"]["in_blocks"] and not alone:
            assert batch % 2 == 0
            assert batch >= 16
        if least_ns := PATTERNS[pattern]["least_ns"]:
            assert line["samples_ns"][0] >= least_ns
            assert batch == 1 or (batch - 1) * line["trial_ns"][-1] < least_ns
        waits = next(one["target_waits"] for one in PATTERNS[pattern]["modes"] if one["name"] == mode)
        arrives = next(one["sampling"] for one in PATTERNS[pattern]["modes"] if one["name"] == mode)
        unknown = sampling in {"prepared", "acked"} or waits or bool(arrives)
        cpu_ns = -1 if unknown else active * sum(line["samples_ns"])
        assert line["cpu_ns"] == cpu_ns


@pytest.mark.parametrize("pattern", [*COLLECTIVES, "bcast-rotating", "bcast-acked"])
def test_a_collective_takes_a_step_for_every_doubling_of_ranks(pattern: str) -> None:
    mode = modes_of(pattern)[0]

    def time_ns(ranks: int, size: int = 0, latency_ns: int = LATENCY_NS) -> float:
        return operation_ns(pattern, mode, size, ranks, latency_ns)

    assert 0 < time_ns(1) < time_ns(2) == LATENCY_NS
    assert all(time_ns(2 * ranks) == time_ns(ranks) + LATENCY_NS for ranks in range(2, 40))
    assert all(time_ns(ranks) >= time_ns(ranks - 1) for ranks in range(3, 80))
    assert time_ns(4, 1000) == time_ns(4) + 100


def test_starts_can_be_told_apart(openmpi: FakeMpi) -> None:
    modes = modes_of("bcast")
    cells = list(product(modes, SYNCS))
    text = plan_of(*(f"bcast {mode} 64 sync={sync}" for mode, sync in cells), ranks=4)
    found = visits_in(journal_of(find.find_default(), text, 4))
    skews_ns = {"common": 5, "barrier": 150, "mpi_barrier": 250}
    for number, (mode, sync) in enumerate(cells):
        line = found[number]
        one_ns = operation_ns("bcast", mode, 64, 4, LATENCY_NS, sync)
        assert line["root_ns"] == line["local_ns"] == line["samples_ns"]
        assert line["late"] == []
        assert line["lead_ns"] > 0
        assert set(line["skew_ns"]) == {skews_ns[sync]}
        assert len(line["skew_ns"]) == len(line["samples_ns"])
        # After a barrier no rank has the time to read the CPU clock.
        assert (line["cpu_ns"] < 0) == (sync != "common")
        assert line["trial_ns"][-1] == one_ns
    times = [found[number]["samples_ns"][0] for number in range(3)]
    assert [later - sooner for sooner, later in pairwise(times)] == [100, 100]


def test_little_time_makes_few_samples_and_no_fewer_visits(openmpi: FakeMpi) -> None:
    assert answers_of_slow_cell(find.find(str(openmpi.mpicc))) == ["visit"] * 8


def test_half_of_a_collective_hides_behind_work(openmpi: FakeMpi) -> None:
    text = plan_of("barrier overlap 0", "alltoallv overlap 40 sync=barrier", ranks=4)
    for line in visits_in(journal_of(find.find_default(), text, 4)).values():
        assert set(line["pure_ns"]) == {line["work_ns"]}
        assert len(line["pure_ns"]) == len(line["samples_ns"])
        for sample in line["samples_ns"]:
            hidden_ns = line["pure_ns"][0] + line["work_ns"] - sample
            assert hidden_ns == line["pure_ns"][0] / 2


def test_only_collectives_care_how_ranks_start() -> None:
    for pattern in PATTERNS:
        times = {operation_ns(pattern, modes_of(pattern)[0], 64, 4, LATENCY_NS, sync) for sync in SYNCS}
        assert len(times) == (3 if pattern in COLLECTIVES else 1)


def test_pairs_do_not_hinder_each_other() -> None:
    one_ns = operation_ns("stream", "unidirectional", 64, 2, LATENCY_NS)
    for ranks, pairs in ((2, 1), (3, 1), (4, 2), (9, 4)):
        assert operation_ns("multi-stream", "unidirectional", 64, ranks, LATENCY_NS) == one_ns / pairs
        assert operation_ns("multi-pingpong", "standard", 64, ranks, LATENCY_NS) == one_ns


def test_memory_is_no_matter_of_the_library() -> None:
    for pattern in (name for name, of in PATTERNS.items() if of["family"] == "memory"):
        for mode in modes_of(pattern):
            assert operation_ns(pattern, mode, 64, 2, 1) == operation_ns(pattern, mode, 64, 8, 10**6)


def test_a_message_is_never_faster_than_what_it_is_made_of() -> None:
    for size in (64, 2**20):
        message = operation_ns("pingpong", "standard", size, 2, LATENCY_NS)
        crossing = operation_ns("crosscopy", "standard", size, 2, LATENCY_NS)
        assert message > operation_ns("cacheline", "standard", 0, 2, LATENCY_NS)
        assert message > crossing > operation_ns("memcpy", "standard", size, 2, LATENCY_NS)


def test_the_levels_of_the_cache_can_be_found() -> None:
    sizes = [64 * round(2 ** (step / 4)) for step in range(4 * 21)]
    loads = [operation_ns("chase", "standard", size, 1, LATENCY_NS) * 1e-9 for size in sizes]
    levels = cache_levels(sizes, loads)
    assert [level.latency_s for level in levels] == pytest.approx([1e-9, 4e-9, 30e-9, 100e-9])
    assert [level.capacity_bytes for level in levels] == [2**15, 2**20, 2**24, None]


# ---- Starts and clocks ---------------------------------------------------------------------------


def test_clocks_are_looked_at_before_and_after_visits_that_need_them(openmpi: FakeMpi) -> None:
    lines = journal_of(find.find_default(), plan_of("pingpong standard 8", "barrier blocking 0"))
    kinds = [next(iter(line)) for line in lines]
    assert kinds == ["ready", "launch", "clock", "begin", "visit", "begin", "visit", "clock", "end"]
    for clock in (lines[2], lines[-2]):
        assert clock["shared"] is True
        assert clock["models"] == []
        assert [check["rank"] for check in clock["checks"]] == [1]
        assert all(check["low_ns"] <= 0 <= check["high_ns"] for check in clock["checks"])
    without = journal_of(find.find_default(), plan_of("pingpong standard 8", "bcast-acked blocking 8"))
    assert not any("clock" in line for line in without)


@pytest.mark.parametrize("ranks", [2, 4, 6])
def test_clocks_of_their_own_are_modelled_and_off_by_what_is_asked(
    openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch, ranks: int
) -> None:
    monkeypatch.setenv("FAKE_CLOCKS", "70")
    lines = journal_of(find.find_default(), plan_of("barrier blocking 0", ranks=ranks), ranks)
    learned, checked = (line for line in lines if "clock" in line)
    assert len(learned["models"]) == ranks
    assert checked["models"] == []
    for clock in (learned, checked):
        assert clock["shared"] is False
        assert clock["checks"][-1]["rank"] == ranks - 1
        assert all((check["low_ns"], check["high_ns"]) == (20, 120) for check in clock["checks"])


def test_late_rounds_are_those_of_one_cell_and_say_so(
    openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = plan_of("bcast blocking 64", "bcast blocking 8", "bcast blocking 64 sync=barrier")
    usual = visits_in(journal_of(find.find_default(), text))
    monkeypatch.setenv("FAKE_LATE", "bcast:64")
    late = visits_in(journal_of(find.find_default(), text))
    assert all(line["late"] == [] for line in usual.values())
    assert [line["late"] for line in late.values()] == [list(range(3, 25, 4)), [], []]
    for number, line in late.items():
        kept = [ns for i, ns in enumerate(line["samples_ns"]) if i not in line["late"]]
        assert set(kept) == set(usual[number]["samples_ns"])
        assert line["effective"] == len(kept)
        assert all(line["samples_ns"][i] > max(kept) for i in line["late"])
        assert all(line["skew_ns"][i] > 1000 for i in line["late"])


def test_the_skew_of_common_starts_can_be_chosen(openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_SKEW_NS", "77")
    text = plan_of("barrier blocking 0", "barrier blocking 0 sync=mpi_barrier")
    found = visits_in(journal_of(find.find_default(), text))
    assert [set(line["skew_ns"]) for line in found.values()] == [{77}, {250}]


def test_samples_and_launches_of_collectives_can_differ_too(
    openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = plan_of("allreduce overlap 64 datatype=double op=sum")
    usual = visits_in(journal_of(find.find_default(), text))[0]
    monkeypatch.setenv("FAKE_JITTER", "0.5")
    jittery = visits_in(journal_of(find.find_default(), text))[0]
    for key in ("samples_ns", "pure_ns"):
        assert len(set(jittery[key])) > len(jittery[key]) / 2
        assert all(0.5 <= ns / usual[key][0] <= 1.5 for ns in jittery[key])
    assert jittery["root_ns"] == jittery["samples_ns"]
    monkeypatch.delenv("FAKE_JITTER")
    monkeypatch.setenv("FAKE_SPREAD", "0.5")
    other = visits_in(journal_of(find.find_default(), text))[0]
    assert other["samples_ns"] != usual["samples_ns"]
    assert len(set(other["samples_ns"])) == 1
