"""Places, modes and libraries beside each other: what was planted is found, nothing is said without data."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from mpigauge.compare.curves import Curve, curves_of, rows_by_curve, several_windows, without_window
from mpigauge.document.cell_names import varied_in
from mpigauge.find import comparisons
from mpigauge.find.comparisons import Comparison, comparison, pays_from
from mpigauge.result.reader import Result
from mpigauge.rows.ratios import ratio_of, verdict_of
from mpigauge.rows.rows import rows
from mpigauge.stats.decision import Ratio
from mpigauge.units import format_time
from tests.made import campaign, cell, visit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpigauge.plan.model import Cell
    from mpigauge.result.records import Visit
    from mpigauge.vocabulary import Verdict

Compare = Callable[[Sequence[Curve]], Iterator[Comparison]]

repeatable = settings(derandomize=True, deadline=None)

NEAR = {"placement": "h1,h2"}
FAR = {"placement": "h1,h3"}
SIZES = (0, 64, 4096, 2**20)
LAUNCHES = {1: 1.0, 2: 1.3, 3: 0.8, 4: 1.1, 5: 0.9}
"""What every launch does to all of its times."""


def result_of(one_way_ns: Mapping[Cell, float], launches: Mapping[int, float] | None = None) -> Result:
    """A result in which launches differ, and nothing else does."""
    result = Result(Path("r.jsonl"), campaign(*one_way_ns))
    for number, effect in (launches or LAUNCHES).items():
        for i, (of, time_ns) in enumerate(one_way_ns.items()):
            result.visits.append(visit(number, i, of, 30 * [round(2000 * time_ns * effect)], ops=2000))
    return result


def said(compare: Compare, result: Result) -> list[str]:
    found = rows(result)
    return [comparison(fact, varied_in(found)).text for fact in compare(curves_of(rows_by_curve(found)))]


def two_places(latencies_ns: tuple[float, float], bytes_per_ns: tuple[float, float]) -> dict[Cell, float]:
    """Times of a message by latency and rate of each place."""
    places = ((NEAR, latencies_ns[0], bytes_per_ns[0]), (FAR, latencies_ns[1], bytes_per_ns[1]))
    return {
        cell(size=size, **place): latency_ns + size / rate
        for place, latency_ns, rate in places
        for size in SIZES
    }


ALL = (
    comparisons.latencies_of_places,
    comparisons.payoffs_of_places,
    comparisons.modes,
    comparisons.libraries,
)


# ---- Places --------------------------------------------------------------------------------------


def test_the_latencies_of_places_are_told_in_units_of_the_nearest() -> None:
    (sentence,) = said(comparisons.latencies_of_places, result_of(two_places((1000, 25_000), (10, 0.4))))
    time_s = 1.0064e-6 * math.prod(LAUNCHES.values()) ** (1 / len(LAUNCHES))
    assert sentence == (
        f"pingpong: 64 B takes {format_time(time_s)} over h1,h2; "
        "25.0 times (25.0 \N{EN DASH} 25.0) as long over h1,h3"
    )


def test_the_size_from_which_the_faster_network_pays_is_told_and_how_much() -> None:
    (sentence,) = said(comparisons.payoffs_of_places, result_of(two_places((1000, 900), (10, 1))))
    # 64 B take 1006 ns near and 964 ns far.
    first, last = (f"{(900 + size) / (1000 + size / 10):.3g}" for size in (4096, 2**20))
    gains = f"{last} times as long at 1 MiB; {first} times as long at 4 KiB"
    assert sentence.endswith(f"{gains}; h1,h2 is faster at every size from 4 KiB on")


def _share(one: Visit) -> float:
    if one.cell.placement != FAR["placement"]:
        return 1.4
    return 2 if one.launch % 2 else 1


def test_places_that_launches_cannot_tell_apart_do_not_pay() -> None:
    result = result_of(two_places((1000, 1000), (1, 1)))
    # The second place is slower in some launches and faster in others.
    result.visits = [
        structs.replace(one, samples_ns=[round(sample * _share(one)) for sample in one.samples_ns])
        for one in result.visits
    ]
    (sentence,) = said(comparisons.payoffs_of_places, result)
    assert sentence.endswith("h1,h2 is not certainly faster than h1,h3 at the largest size")


@pytest.mark.parametrize("compare", ALL, ids=lambda compare: str(compare.__name__))
def test_one_launch_has_no_interval_and_says_nothing(compare: Compare) -> None:
    times = two_places((1000, 2000), (1, 1))
    times |= {structs.replace(of, mode="ready"): 3 * time_ns for of, time_ns in times.items()}
    times |= {structs.replace(of, mpi="mpich"): 2 * time_ns for of, time_ns in times.items()}
    assert said(compare, result_of(times))
    assert said(compare, result_of(times, {1: 1.0})) == []


def _certain(low: float) -> Ratio:
    word: Verdict = "slower" if low > 1 else "faster" if low * 1.2 < 1 else "undecided"
    return Ratio(low * 1.1, low, low * 1.2, 5, verdict=word)


@repeatable
@given(
    st.lists(
        st.one_of(st.none(), st.floats(0.1, 10).map(_certain)),
        max_size=8,
    )
)
def test_what_pays_does_so_at_every_larger_size(ratios: list[Ratio | None]) -> None:
    sizes = [2**number for number in range(len(ratios))]
    slower = [verdict_of(ratio) == "slower" for ratio in ratios]
    certain = {size for size, is_slower in zip(sizes, slower, strict=True) if is_slower}
    begin = pays_from(sizes, ratios)
    if begin is None:
        assert not sizes or sizes[-1] not in certain
        return
    larger = {size for size in sizes if size >= begin}
    assert begin in certain
    assert not any(
        verdict_of(ratio) == "faster" for size, ratio in zip(sizes, ratios, strict=True) if size in larger
    )
    assert begin == sizes[0] or sizes[sizes.index(begin) - 1] not in certain


def test_one_noisy_size_does_not_hide_that_a_network_pays() -> None:
    sizes = [1, 2, 4, 8, 16]
    certain = Ratio(1.3, 1.27, 1.33, 10, verdict="slower")
    noisy = Ratio(1.2, 0.9, 1.6, 10)
    assert pays_from(sizes, [certain, certain, noisy, certain, certain]) == 1
    # It must tell nothing: not that they are alike, nor beside others that tell nothing.
    assert pays_from(sizes, [certain, certain, Ratio(1.0, 0.99, 1.01, 10), certain, certain]) == 8
    assert pays_from(sizes, [certain, certain, Ratio(0.98, 0.8, 1.2, 10), certain, certain]) == 8
    assert pays_from(sizes, [certain, noisy, noisy, certain, certain]) == 8
    assert pays_from(sizes, [certain, certain, certain, certain, noisy]) is None


def test_networks_that_are_alike_hardly_ever_pay() -> None:
    generator = np.random.default_rng(4)
    sizes = list(range(1, 13))
    paid = 0
    for _ in range(150):
        logs = generator.normal(0, 0.05, (12, 10))
        ratios = [
            ratio_of(dict(enumerate(np.exp(row))), dict.fromkeys(range(10), 1.0), paired=True) for row in logs
        ]
        paid += pays_from(sizes, ratios) is not None
    assert paid <= 12


# ---- Modes and libraries -------------------------------------------------------------------------


def test_a_mode_is_told_in_units_of_the_first() -> None:
    times = {
        **{cell("exchange", size, "blocking"): 1000 + size for size in SIZES},
        **{cell("exchange", size, "nonblocking"): 2000 + size / 2 for size in SIZES},
    }
    (sentence,) = said(comparisons.modes, result_of(times))
    assert sentence == (
        "exchange: MPI_Isend takes on average 95 % longer than MPI_Send up to 64 B; "
        "50 % less time at 1 MiB; 21 % less time at 4 KiB"
    )


def test_libraries_are_told_place_by_place() -> None:
    times = {
        cell(size=size, mpi=mpi, **place): 1000.0 * slow + size
        for mpi, slow in (("openmpi", 1), ("mpich", 1.5))
        for place in (NEAR, FAR)
        for size in SIZES
    }
    sentences = said(comparisons.libraries, result_of(times))
    assert [sentence.partition(":")[0] for sentence in sentences] == [
        "pingpong, h1,h2",
        "pingpong, h1,h3",
    ]
    assert all("MPICH 5.0.11 takes " in sentence for sentence in sentences)


def test_settings_are_no_places_and_no_libraries() -> None:
    """They are compared with each other, and in each of them libraries and places with their like."""
    times = {
        cell(size=size, mpi=mpi, setting=setting, **place): 1000.0 * slow * (2 if place == FAR else 1) + size
        for setting in ("LIMIT=1", "LIMIT=2")
        for mpi, slow in (("openmpi", 1), ("mpich", 1.5))
        for place in (NEAR, FAR)
        for size in SIZES
    }
    result = result_of(times)
    assert [one.partition(": ")[0] for one in said(comparisons.libraries, result)] == [
        f"pingpong, LIMIT={limit}, h1,h{host}" for limit in (1, 2) for host in (2, 3)
    ]
    assert [one.partition(":")[0] for one in said(comparisons.latencies_of_places, result)] == [
        f"pingpong, {mpi} 5.0.11, LIMIT={limit}" for limit in (1, 2) for mpi in ("Open MPI", "MPICH")
    ]
    found = [": ".join(one.split(": ")[:2]) for one in said(comparisons.settings, result)]
    assert found == [
        f"pingpong, {mpi} 5.0.11, h1,h{host}: LIMIT=2 against LIMIT=1"
        for mpi in ("Open MPI", "MPICH")
        for host in (2, 3)
    ]


def test_modes_are_compared_in_sizes_that_both_have() -> None:
    times = {
        **{cell("exchange", size, "blocking"): 100.0 for size in (8, 64)},
        **{cell("exchange", size, "nonblocking"): 100.0 for size in (64, 4096)},
    }
    (sentence,) = said(comparisons.modes, result_of(times))
    assert sentence == "exchange: MPI_Isend against MPI_Send: no difference (within 3 %) at 64 B"
    assert "4 KiB" not in sentence


@pytest.mark.parametrize("compare", ALL, ids=lambda compare: str(compare.__name__))
def test_without_something_to_compare_nothing_is_said(compare: Compare) -> None:
    assert said(compare, Result(Path("r.jsonl"), campaign(*two_places((1, 2), (1, 1))))) == []
    assert said(compare, result_of({cell(size=size): 100.0 for size in SIZES})) == []
    alone = {cell(size=8, **NEAR): 100.0, cell(size=64, mode="ready", mpi="mpich", **FAR): 200.0}
    assert said(compare, result_of(alone)) == []
    copies = {cell("memcpy", 64, **place): 100.0 for place in (NEAR, FAR)}
    assert said(compare, result_of(copies)) == []


def test_a_window_that_large_messages_shorten_makes_no_curve_of_its_own() -> None:
    times_ns = {
        cell("stream", size, "unidirectional", window=64 if size < 2**20 else 16, **place): base + size / rate
        for place, base, rate in ((NEAR, 1000, 10), (FAR, 25_000, 1))
        for size in SIZES
    }
    (sentence,) = said(comparisons.payoffs_of_places, result_of(times_ns))
    assert "from 0 B on" in sentence
    assert "at 1 MiB" in sentence


def test_a_row_for_each_state_is_not_another_window() -> None:
    result = Result(Path("r.jsonl"), campaign(cell("stream", 8, window=64)))
    result.visits += [visit(launch, 0, cell("stream", 8, window=64), [1000] * 5) for launch in (1, 2)]
    (row,) = rows(result)
    in_states = [replace(row, state=state) for state in ("near", "far")]
    assert several_windows(in_states) == frozenset()
    other = replace(row, cell=structs.replace(row.cell, window=16))
    assert several_windows([*in_states, other]) == {without_window(row.cell)}
