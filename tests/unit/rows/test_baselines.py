"""Messages measured by memory: ratios paired by launch, and sentences about a machine of known speed."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpigauge.document.cell_names import varied_in
from mpigauge.find.explain.copies import cost_findings
from mpigauge.find.memory_costs import (
    CachesSeen,
    DifferentCache,
    Level,
    memory_facts,
    memory_finding,
    software_overheads,
)
from mpigauge.result.reader import Result
from mpigauge.rows.baselines import YARDSTICKS, ratios_of
from mpigauge.rows.estimate import Timing
from mpigauge.rows.rows import rows
from mpigauge.stats.robust import trimmed, winsorised
from mpigauge.units import format_factor
from tests.fakes.law import CACHES, MAIN_MEMORY_NS, PATTERNS, modes_of, operation_ns
from tests.made import campaign, cell, launch, visit
from tests.unit.rows.planted import estimate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpigauge.document.finding import Finding
    from mpigauge.plan.model import Cell

repeatable = settings(derandomize=True, deadline=None)
LATENCY_NS = 100
STICKS = {name: cell(pattern, 64, mode) for name, (pattern, mode) in YARDSTICKS.items()}
MESSAGE = cell(size=64)

times = st.floats(1e-9, 1.0)
launches = st.dictionaries(st.integers(1, 6), times, min_size=1)


def by_law(
    cells: Sequence[Cell], effects: Sequence[float] = (1.0, 1.0), latency_ns: int = LATENCY_NS
) -> Result:
    """A result in which every time follows the fake's law; launches are slower by these factors."""
    result = Result(Path("r.jsonl"), campaign(*cells))
    for number, effect in enumerate(effects, start=1):
        result.launches.append(launch(number))
        for i, of in enumerate(cells):
            one_ns = operation_ns(of.pattern, of.mode, of.bytes, of.ranks, latency_ns)
            sample_ns = round(1000 * one_ns * effect)
            result.visits.append(visit(number, i, of, 30 * [sample_ns], ops=1000))
    return result


def said(result: Result, claimed: Mapping[str, int] | None = None) -> list[str]:
    """The sentences about a result."""
    found = rows(result)
    others = map(memory_finding, memory_facts(found, claimed or {}))
    return [one.text for one in (*costs(result), *others)]


def costs(result: Result) -> list[Finding]:
    """What messages of a result cost in copies."""
    found = rows(result)
    return [*cost_findings(found, varied_in(found))]


def timed(launches: dict[int, float]) -> Timing:
    """A time of which each launch is known."""
    if not launches:
        return Timing(estimate=1.0)
    return estimate([[np.array([time_s])] for time_s in launches.values()], numbers=list(launches))


# ---- Ratios --------------------------------------------------------------------------------------


def test_every_yardstick_is_a_pattern_and_mode_of_the_kernel() -> None:
    for pattern, mode in YARDSTICKS.values():
        assert mode in modes_of(pattern)


@pytest.mark.parametrize("name", YARDSTICKS)
@repeatable
@given(over=launches, under=launches)
def test_ratios_are_of_launches_that_have_both(
    name: str, over: dict[int, float], under: dict[int, float]
) -> None:
    found = ratios_of({MESSAGE: timed(over), STICKS[name]: timed(under)})
    if not over or not under:
        assert found == {}
        return
    assert found.keys() == {MESSAGE}
    assert found[MESSAGE].keys() == {name}
    ratio, both = found[MESSAGE][name], over.keys() & under.keys()
    assert ratio.paired == (len(both) >= max(2, 0.8 * max(len(over), len(under))))
    mine = [{number: time[number] for number in both} if ratio.paired else time for time in (over, under)]
    over_logs, under_logs = (np.log([time[number] for number in sorted(time)]) for time in mine)
    if ratio.paired:
        centre = winsorised(over_logs - under_logs).mean()
    else:
        above, below = (trimmed(logs)[0] if len(logs) > 1 else logs[0] for logs in (over_logs, under_logs))
        centre = above - below
    assert math.log(ratio.estimate) == pytest.approx(centre)
    assert (ratio.low is None) == (min(map(len, mine)) == 1)


def test_what_a_launch_does_to_both_does_not_widen_a_ratio() -> None:
    effects = (1.0, 1.5, 0.7, 1.2)
    result = by_law([MESSAGE, *STICKS.values()], effects)
    row = rows(result)[0]
    assert row.time is not None
    assert row.time.low is not None
    assert row.time.high is not None
    assert row.time.high / row.time.low > 1.5
    assert row.ratios.keys() == YARDSTICKS.keys()
    for name, ratio in row.ratios.items():
        pattern, mode = YARDSTICKS[name]
        law = operation_ns("pingpong", "standard", 64, 2, LATENCY_NS) / operation_ns(
            pattern, mode, 64, 2, LATENCY_NS
        )
        assert ratio.low == pytest.approx(law, rel=1e-3)
        assert ratio.high == pytest.approx(law, rel=1e-3)


@pytest.mark.parametrize(
    "other",
    [
        {"size": 128},
        {"ranks": 4},
        {"mpi": "mpich"},
        {"mpi_version": "5.0.12"},
        {"buffers": "cold"},
    ],
)
def test_only_a_warm_copy_of_the_same_size_in_the_same_job_is_a_yardstick(other: dict[str, object]) -> None:
    stick = cell(**{"pattern": "crosscopy", "size": 64, **other})  # type: ignore[arg-type]
    assert ratios_of({MESSAGE: timed({1: 2.0}), stick: timed({1: 1.0})}) == {}


def test_cold_messages_and_all_modes_are_measured_by_the_warm_copy() -> None:
    cold, mode = cell(size=64, buffers="cold"), cell(size=64, mode="ready")
    found = ratios_of({cold: timed({1: 3.0}), mode: timed({1: 4.0}), STICKS["kappa"]: timed({1: 2.0})})
    assert {of: ratios["kappa"].estimate for of, ratios in found.items()} == {
        cold: pytest.approx(1.5),
        mode: pytest.approx(2.0),
    }


def test_only_messages_are_measured_by_memory() -> None:
    others = [
        cell(pattern, 64, modes_of(pattern)[0])
        for pattern in PATTERNS
        if pattern not in ("pingpong", "eager")
    ]
    assert ratios_of({of: timed({1: 1.0}) for of in others}) == {}


def test_a_copy_that_cannot_be_is_no_yardstick() -> None:
    message, copy = cell(size=2**30), cell("memcpy", 2**30)
    result = by_law([message, copy])
    result.visits = [
        visit(one.launch, one.id, one.cell, [9], ops=1) if one.cell == copy else one for one in result.visits
    ]
    found, refused = rows(result)
    assert refused.status == "failed"
    assert not found.ratios


# ---- Sentences -----------------------------------------------------------------------------------

SIZES = [2**exponent for exponent in range(3, 25)]


def test_a_curve_is_told_in_units_of_each_copy() -> None:
    result = by_law([*(cell(size=size) for size in SIZES), *(cell("crosscopy", size) for size in SIZES)])
    ratios = {
        size: operation_ns("pingpong", "standard", size, 2, LATENCY_NS)
        / operation_ns("crosscopy", "standard", size, 2, LATENCY_NS)
        for size in SIZES
    }
    # It starts near 2 and goes to the ratio of the rates, 5: it is below 10 everywhere, and never below 2.
    assert 2 <= min(ratios.values()) <= max(ratios.values()) < 10
    (cost,) = costs(result)
    assert cost.text.startswith(f"pingpong / crosscopy: {format_factor(ratios[8])} copies (")
    assert cost.text.endswith(" at 8 B")
    assert dict(cost.value["below"]) == {10.0: 8, 2.0: None}


@repeatable
@given(
    st.dictionaries(
        st.sampled_from(SIZES), st.sampled_from([0.5, 1.9, 2.0, 3.0, 9.9, 10.0, 40.0]), min_size=1
    )
)
def test_below_is_said_from_where_on_it_stays_below(ratios: dict[int, float]) -> None:
    result = by_law([])
    for i, (size, ratio) in enumerate(ratios.items()):
        message, copy = cell(size=size), cell("copy", size, "O3")
        result.visits += [visit(1, 2 * i, message, [round(10**6 * ratio)], ops=1)]
        result.visits += [visit(1, 2 * i + 1, copy, [10**6], ops=1)]
    cells = tuple(dict.fromkeys(one.cell for one in result.visits))
    (cost,) = costs(Result(result.path, campaign(*cells), visits=result.visits))
    below, before = dict(cost.value["below"]), dict(cost.value["before"])
    for limit in (10.0, 2.0):
        above = [size for size, ratio in ratios.items() if ratio >= limit]
        beyond = min((size for size in ratios if size > max(above, default=0)), default=None)
        assert below[limit] == beyond
        measured_before = [one for one in ratios if beyond is not None and one < beyond]
        assert before[limit] == max(measured_before, default=None)
    least, size = min((ratio, size) for size, ratio in ratios.items())
    assert cost.value["least"]["estimate"] == pytest.approx(least)
    assert cost.value["least_bytes"] == size


def test_each_mode_and_each_library_has_sentences_of_its_own() -> None:
    cells = [
        cell(pattern, 64, mode, mpi=mpi)
        for mpi in ("openmpi", "mpich")
        for pattern, mode in (
            ("pingpong", "standard"),
            ("pingpong", "ready"),
            ("memcpy", "standard"),
            ("copy", "O3"),
        )
    ]
    sentences = said(by_law(cells))
    assert len(sentences) == len(set(sentences)) == 2 * 2 * 2


def test_an_empty_message_is_no_number_of_copies() -> None:
    assert said(by_law([cell(size=0), cell("memcpy", 64)])) == []


def test_without_a_yardstick_nothing_is_said() -> None:
    assert said(by_law([cell(size=size) for size in SIZES])) == []
    assert said(by_law([cell("memcpy", size) for size in SIZES])) == []
    assert said(Result(Path("r.jsonl"), campaign(MESSAGE, *STICKS.values()))) == []


def test_the_smallest_message_is_told_above_one_cache_line() -> None:
    sentences = said(by_law([cell(size=64), cell(size=0), cell(size=8), cell("cacheline", 0)]))
    assert len(sentences) == 1
    for words in ("pingpong standard of 0 B", "takes 100 ns", "transfer (60.0 ns)", "40.0 ns (38.8 ns"):
        assert words in sentences[0]


def test_a_large_message_is_not_told_above_one_cache_line() -> None:
    assert said(by_law([cell(size=2**20), cell("cacheline", 0)])) == []


def test_what_is_above_a_cache_line_has_an_interval_of_its_own_launches() -> None:
    fact = next(software_overheads(rows(by_law([cell(size=0), cell("cacheline", 0)], (1.0, 1.5, 0.8, 1.1)))))
    differences = [40e-9 * effect for effect in (1.0, 1.5, 0.8, 1.1)]
    assert fact.low_s is not None
    assert fact.high_s is not None
    assert min(differences) > fact.low_s
    assert (fact.low_s + fact.high_s) / 2 == pytest.approx(np.mean(differences), rel=0.02)


def test_below_a_limit_is_certain_where_the_intervals_are() -> None:
    message, copies = (
        [cell(size=size) for size in (8, 64, 512)],
        [cell("copy", s, "O3") for s in (8, 64, 512)],
    )
    result = by_law([])
    for launch_, noise in ((1, 1.0), (2, 1.5), (3, 0.7)):
        for i, (over, under) in enumerate(zip(message, copies, strict=True)):
            ratio = 9.0 * noise if i < 2 else 3.0
            result.visits += [visit(launch_, 2 * i, over, [round(10**6 * ratio)], ops=1)]
            result.visits += [visit(launch_, 2 * i + 1, under, [10**6], ops=1)]
    (cost,) = costs(Result(result.path, campaign(*message, *copies), visits=result.visits))
    assert (dict(cost.value["below"])[10.0], dict(cost.value["certain"])[10.0]) == (8, 512)


def test_a_message_as_fast_as_a_cache_line_has_no_software_left() -> None:
    for latency_ns in (60, 50):
        (sentence,) = said(by_law([cell(size=0), cell("cacheline", 0)], (1, 1), latency_ns))
        assert sentence.endswith("no longer than a cache-line transfer (60.0 ns)")


def test_a_cache_line_of_another_job_says_nothing() -> None:
    assert said(by_law([cell(size=0), cell("cacheline", 0, mpi="mpich")])) == []


# ---- Caches --------------------------------------------------------------------------------------

WORKING_SETS = [64 * round(2 ** (step / 4)) for step in range(4 * 21)]
CLAIMS = {f"L{level} Unified": most for level, (most, _) in enumerate(CACHES, start=1)}


def test_the_levels_of_a_known_machine_are_told() -> None:
    chased = by_law([cell("chase", size) for size in reversed(WORKING_SETS)])
    (sentence,) = said(chased, CLAIMS)
    assert sentence.startswith("cache levels seen (Open MPI 5.0.11, 2 ranks): ")
    levels = re.findall(r"([\d.]+) ns (?:up to (\d+ [KM]iB)|above)", sentence)
    assert [float(latency) for latency, _ in levels] == [*(ns for _, ns in CACHES), MAIN_MEMORY_NS]
    assert [capacity for _, capacity in levels] == ["32 KiB", "1 MiB", "16 MiB", ""]


@pytest.mark.parametrize(
    ("claim", "said_of_it"),
    [
        ({"L3 Unified": 480 * 2**20}, "L3: about 16 MiB seen, the system claims 480 MiB (common in virtual"),
        ({"L2 Unified": 256 * 2**10}, "L2: about 1 MiB seen, the system claims 256 KiB (two levels that are"),
        ({"L4 Unified": 2**30}, "L4: its end is beyond the working sets measured, the system claims 1 GiB"),
    ],
)
def test_a_cache_that_is_not_as_claimed_is_told(claim: dict[str, int], said_of_it: str) -> None:
    chased = by_law([cell("chase", size) for size in WORKING_SETS])
    (sentence,) = said(chased, CLAIMS | claim)
    _, *differing = sentence.split("; ")
    assert len(differing) == 1
    assert differing[0].startswith(said_of_it)


@pytest.mark.parametrize(
    ("seen_bytes", "text"),
    [
        (46336, "45 KiB"),
        (38105, "37 KiB"),
        (1327 * 2**10, "1.25 MiB"),
        (5792 * 2**10, "5.75 MiB"),
        (12338 * 2**10, "12 MiB"),
        (700, "700 B"),
        (8, "8 B"),
    ],
)
def test_what_is_seen_is_told_in_round_numbers(seen_bytes: int, text: str) -> None:
    different = DifferentCache(1, seen_bytes, 2**40)
    fact = CachesSeen(cell("chase"), (Level(seen_bytes, 1e-9),), (different,))
    assert f"; L1: about {text} seen, the system claims 1 TiB" in memory_finding(fact).text


def test_a_few_working_sets_show_no_levels() -> None:
    assert said(by_law([cell("chase", size) for size in WORKING_SETS[:5]]), CLAIMS) == []
