"""The first lines of an answer: a sentence about each factor that was varied."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.find.answer import answers
from mpigauge.find.explain.contrasts import contrasts
from mpigauge.find.headline import (
    FACTORS,
    headline_record,
    headlines,
    headlines_of,
    ratio_cell,
    varied_of,
)
from mpigauge.query.query import source_of
from mpigauge.result.reader import load
from mpigauge.result.records import Blocked
from mpigauge.stats.decision import Ratio
from mpigauge.units import DASH
from tests.made import PATTERNS, cell, collective, eager
from tests.places import DOCS
from tests.unit.find.explain.informative import told_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpigauge.find.explain.evidence import Evidence
    from mpigauge.find.headline import Headline
    from mpigauge.plan.model import Cell
    from mpigauge.result.records import Eager

SIZES = (8, 64, 512, 4096, 2**15, 2**18)
KNOWN = {pattern.name: pattern for pattern in PATTERNS}
MPICH = {"mpi": "mpich", "mpi_version": "5.0.2"}
LIMIT = 4016
NOISE = 0.0005


def curve(ratios: Mapping[int, float], pattern: str = "pingpong", mode: str = "standard", **more: Any) -> Any:
    """Times of a curve, at some sizes so many times as long as without; 0 for all others."""
    usual = ratios.get(0, 1.0)
    return {cell(pattern, size, mode, **more): (500 + size) * ratios.get(size, usual) for size in SIZES}


def found(times: Mapping[Cell, float], *more: Eager | Blocked, noise: float = NOISE) -> list[Headline]:
    """The headlines of a result with these times."""
    return headlines_in(told_of(times, *more, noise=noise))


def headlines_in(evidence: Evidence) -> list[Headline]:
    every = answers(evidence.rows, KNOWN)
    return headlines(varied_of(evidence.result, evidence.rows, every), every)


def texts(times: Mapping[Cell, float], *more: Eager | Blocked, noise: float = NOISE) -> list[str]:
    return [one.text for one in found(times, *more, noise=noise)]


# ---- Sentences -----------------------------------------------------------------------------------


def test_a_mode_is_told_by_its_mpi_function_with_all_sizes_that_there_is_room_for() -> None:
    slower = curve({8: 1.13, 64: 1.13}, mode="nonblocking")
    assert texts(curve({}) | slower) == [
        (
            "pingpong: MPI_Isend takes on average 13 % longer than MPI_Send up to 64 B; no difference "
            "(within 3 %) from 512 B on; 574 ns against 508 ns at 8 B (+66.1 ns)"
        ),
    ]


def test_of_many_modes_those_that_do_not_differ_are_named() -> None:
    modes = ("posted", "any-source", "any-tag", "any")
    times = {one: time for mode in modes for one, time in curve({}, "matching", mode).items()}
    slower = curve({0: 2.0}, "matching", "reversed")
    (text,) = texts(times | slower)
    assert "reversed takes" in text
    assert text.endswith("; no difference at 8 B: any-source, any-tag, any")


def test_a_message_one_way_is_not_held_against_the_call_that_receives_one() -> None:
    """The ways of receiving it alone are told; none of them is a ping-pong."""
    times = curve({}, "matching", "posted") | curve({0: 2.0}, "matching", "unexpected")
    assert not [text for text in texts(times) if "unexpected" in text]


def test_above_the_eager_limit_a_mode_that_was_not_started_would_deadlock() -> None:
    large = [cell("exchange", size, "blocking") for size in SIZES if size > LIMIT]
    blocked = [Blocked(1, 0, one, limit_bytes=LIMIT, found=True) for one in large]
    small = {one: time for one, time in curve({}, "exchange", "blocking").items() if one.bytes <= LIMIT}
    times = small | dict.fromkeys(large, 0.0) | {cell("eager", 2**22): 0.0}
    both = times | curve({0: 1.5}, "exchange", "nonblocking")
    (one,) = found(both, eager(LIMIT), *blocked)
    assert one.text == (
        "exchange: MPI_Isend takes on average 50 % longer than MPI_Send up to 512 B; "
        "762 ns against 508 ns at 8 B (+254 ns); above 4016 B MPI_Send would deadlock"
    )
    assert one.limit_bytes == LIMIT


@pytest.mark.parametrize(
    ("other", "text"),
    [
        (
            curve({0: 2.5}, **MPICH),
            "pingpong: MPICH 5.0.2 takes on average 2.50 times as long as Open MPI 5.0.11 at all 6 sizes",
        ),
        (
            curve({0: 0.4}, **MPICH),
            "pingpong: MPICH 5.0.2 is on average 2.50 times as fast as Open MPI 5.0.11 at all 6 sizes",
        ),
        (
            curve({}, setting="X=2"),
            "pingpong: X=2 against usual setting: no difference (within 3 %) at all 6 sizes",
        ),
        (
            curve({0: 1.5}, placement="h1,h2"),
            "pingpong: h1,h2 takes on average 50 % longer than same-host at all 6 sizes",
        ),
    ],
)
def test_libraries_settings_and_places_are_told_against_the_first(
    other: dict[Cell, float], text: str
) -> None:
    (one,) = texts(curve({}) | other)
    assert one.startswith(text)


@pytest.mark.parametrize("factor", [0.5, 1.5, 20.0])
def test_every_ratio_has_the_interval_of_its_record(factor: float) -> None:
    (one,) = found(curve({}) | curve({0: factor}, mode="nonblocking"), noise=0.02)
    ratios = headline_record(one)["ratios"]
    for ratio in ratios:
        if factor > 2:
            ends = [f"{ratio[name]:#.3g}" for name in ("low", "high")]
        else:
            ends = sorted(f"{abs(ratio[name] - 1) * 100:.0f}" for name in ("low", "high"))
        assert f" ({ends[0]} \N{EN DASH} {ends[1]}) " in one.text
    assert one.text.count(f" {DASH} ") == len(ratios) == 1


@pytest.mark.parametrize(
    ("launches", "noise", "said", "why"),
    [
        (4, NOISE, "MPI_Ssend takes .* as long as MPI_Send at all 6 sizes", "; a verdict needs 5 launches"),
        (
            8,
            0.08,
            "MPI_Ssend against MPI_Send: undecided at all 6 sizes",
            r" \(about \d+ launches would tell\)",
        ),
    ],
    ids=["few launches", "noise"],
)
def test_what_is_undecided_says_what_a_verdict_takes(
    launches: int, noise: float, said: str, why: str
) -> None:
    """Beside two intervals far apart a reader believes neither the word nor the numbers."""
    times = curve({}) | curve({0: 2.0 if launches < 5 else 1.01}, mode="synchronous")
    (one,) = headlines_in(told_of(times, noise=noise, launches=launches))
    assert re.fullmatch(f"pingpong: {said}{why}", one.text)


def test_a_number_of_two_launches_is_no_finding() -> None:
    times = {cell(size=8): 500.0}
    assert headlines_in(told_of(times, noise=NOISE, launches=3))
    assert not headlines_in(told_of(times, noise=NOISE, launches=2))


def test_each_of_two_patterns_is_told_with_its_best_bandwidth_of_any_size() -> None:
    """The largest message is not the fastest, and its size stood there twice."""
    rates = {512: 3.0, 4096: 8.0, 2**15: 4.0}
    times = {
        cell(pattern, size, mode, window=64, **more): size / (rate * factor)
        for pattern, mode, factor, more in (
            ("multi-stream", "unidirectional", 1.0, {"sync": "common"}),
            ("get-window", "flush", 2.0, {"rma_window": "allocate"}),
        )
        for size, rate in rates.items()
    }
    (text,) = texts(times)
    text = re.sub(r" ±\S+ %", "", text)
    assert re.fullmatch(
        r"multi-stream bandwidth \S+ GB/s at best \(4 KiB\); get-window bandwidth \S+ GB/s at best \(4 KiB\)",
        text,
    )


def test_what_is_timed_from_the_last_partition_on_says_so() -> None:
    assert with_no_digits_of_width({cell("early-bird", 8, "partitioned", partitions=1): 700.0}) == (
        "early-bird of 8 B takes 700 ns ± from the last partition on"
    )


@pytest.mark.parametrize(("launches", "topics"), [(8, ["partitioned"]), (4, [])], ids=["enough", "few"])
def test_what_was_over_before_the_last_partition_leads_however_little_is_left(
    launches: int, topics: list[str]
) -> None:
    """The ratio of the rest is open by more than a factor of three; the share that was over is not."""
    size = 2**22
    times = {cell("early-bird", size, "send"): 576_000.0}
    times[cell("early-bird", size, "partitioned", partitions=64)] = 26_000.0
    evidence = told_of(times, launches=launches, noise=0.9)
    assert [one.topic for one in headlines_in(evidence) if one.is_finding] == topics


def test_of_many_values_each_is_told_at_the_size_of_the_latency() -> None:
    times = curve({}, transport="shm") | curve({0: 20}, transport="tcp")
    times |= curve({0: 1.01}, transport="tcp", placement="h1,h2")
    times |= curve({0: 90}, transport="tcp", placement="h1,h3")
    (one,) = texts(times)
    one = re.sub(r" \(\d[^)]*\)", "", one)
    assert one == (
        "pingpong: tcp takes 20.0 times as long as shm at 8 B; tcp h1,h3 90.0 times; tcp h1,h2 no difference"
    )


def test_ranks_are_told_of_what_all_of_them_do() -> None:
    times = {collective("barrier", 0, ranks=ranks): 1000.0 * ranks for ranks in (2, 4, 8)}
    (one,) = texts(times)
    assert re.match(r"barrier: 8 ranks take 4\.00 times (\(.*\) )?as long as 2 ranks", one)


@pytest.mark.parametrize(
    ("times_ns", "said"),
    [
        ((4000.0, 1600.0), "2 senders carry 2.50 times what 1 sender does at 64 KiB"),
        ((4000.0, 3200.0), "2 senders carry 1.25 times what 1 sender does at 64 KiB"),
        ((4000.0, 5000.0), "2 senders carry 0.800 times what 1 sender does at 64 KiB"),
    ],
)
def test_of_more_senders_the_rate_is_told(times_ns: tuple[float, float], said: str) -> None:
    of = {"ranks": 4, "window": 64}
    cells = [
        collective("multi-stream", 65536, "unidirectional", senders=number, group=group, **of)
        for number, group in ((1, "0,2"), (2, "0,1,2,3"))
    ]
    (one,) = texts(dict(zip(cells, times_ns, strict=True)))
    assert re.sub(r" \([^)]*\)", "", one).startswith(f"multi-stream: {said}; ")


def test_of_several_factors_the_library_comes_first_and_no_more_than_two_are_told() -> None:
    times: dict[Cell, float] = {}
    for library, factor in (({}, 1.0), (MPICH, 1.5)):
        for place in ({}, {"placement": "h1,h2"}):
            for mode in ("standard", "nonblocking"):
                times |= curve({0: factor}, mode=mode, **library, **place)
    assert [one.factor for one in found(times)] == ["library", "place"]


def test_modes_beside_collectives_are_not_what_a_campaign_is_about() -> None:
    times = curve({}) | curve({0: 2.0}, mode="nonblocking") | {collective("barrier", 0): 900.0}
    assert with_no_digits_of_width(times) == "a message of 8 B takes 508 ns ±; 998 MB/s ± at best (256 KiB)"


def test_what_the_target_has_seen_is_told_first_and_then_what_windows_cost() -> None:
    times = {
        cell(size=8): 200.0,
        cell("put-notify", 8, "flag", rma_window="allocate"): 280.0,
        cell("put", 8, "flush", rma_window="allocate"): 20.0,
        cell("put", 8, "flush", rma_window="create"): 400.0,
    }
    first, second = found(times)
    assert "put-notify flag, window allocate, 8 B: seen by the target after 280 ns" in first.text
    assert "window of MPI_Win_create: 20.0 times as long as of MPI_Win_allocate" in second.text
    assert [headline_record(one)["topic"] for one in (first, second)] == ["one-sided", "window-kind"]


@pytest.mark.parametrize(("deep", "topics"), [(900.0, ["matching"]), (300.0, [])])
def test_of_queues_what_they_cost_is_told_where_that_is_certain(deep: float, topics: list[str]) -> None:
    times = {cell("matching", 8, "posted", depth=depth): time for depth, time in ((0, 300.0), (64, deep))}
    assert [one.topic for one in found(times) if one.is_finding] == topics


def test_libraries_come_before_what_queues_cost() -> None:
    times = {
        cell("matching", 8, "posted", depth=depth, **library): 300.0 * (1 + depth) * (2 if library else 1)
        for depth in (0, 4)
        for library in ({}, MPICH)
    }
    assert [(one.factor, one.topic) for one in found(times)][:: len(found(times)) - 1] == [
        ("library", None),
        (None, "matching"),
    ]


def test_of_operations_the_first_two_are_told() -> None:
    times = {
        collective("barrier", 0): 900.0,
        collective("allreduce", 8): 1200.0,
        collective("bcast", 8): 700.0,
    }
    assert with_no_digits_of_width(times) == "barrier takes 900 ns ±; allreduce of 8 B takes 1.20 µs ±"


def test_what_is_no_latency_is_told_by_its_name_before_its_best_bandwidth() -> None:
    times = {cell("layout", 8, "contiguous"): 350.0, cell("layout", 2**20, "contiguous"): 80_000.0}
    assert with_no_digits_of_width(times) == "layout of 8 B takes 350 ns ±; 13.1 GB/s ± at best (1 MiB)"


def test_of_a_single_size_there_is_no_best_bandwidth() -> None:
    assert with_no_digits_of_width({cell(size=8): 500.0}) == "a message of 8 B takes 500 ns ±"
    alone = {cell("matching", 8, "posted"): 128.0}
    assert with_no_digits_of_width(alone) == "matching of 8 B takes 128 ns ±"


def with_no_digits_of_width(times: dict[Cell, float]) -> str:
    """The only headline, in which every number has its interval."""
    (text,) = texts(times, noise=0.0)
    return re.sub(r"±\S+ %", "±", text)


def test_of_a_ratio_within_a_wide_interval_only_the_word_is_told() -> None:
    wide = Ratio(5.0, 2.0, 12.0, 8, verdict="slower")
    assert ratio_cell(wide) == "higher"
    assert ratio_cell(wide.turned) == "lower"


@pytest.mark.parametrize(
    ("estimate", "verdict", "text"),
    [
        (1.13, "slower", "1.13\N{MULTIPLICATION SIGN}"),
        (1.01, "same", "same"),
        (1.4, "undecided", "undecided"),
        (1 / 164, "faster", "0.00610\N{MULTIPLICATION SIGN}"),
    ],
)
def test_a_ratio_in_a_cell(estimate: float, verdict: Any, text: str) -> None:
    assert ratio_cell(Ratio(estimate, 0.9 * estimate, 1.1 * estimate, 8, verdict=verdict)) == text


def test_a_rate_below_1_is_lower_by_a_factor_that_can_be_read() -> None:
    lower = Ratio(1 / 119, 1 / 125, 1 / 110, 8, verdict="faster")
    assert ratio_cell(lower, of_rates=True) == "119\N{MULTIPLICATION SIGN} lower"
    assert ratio_cell(lower.turned, of_rates=True) == "119\N{MULTIPLICATION SIGN}"


def test_too_few_launches_for_a_verdict_are_named_instead_of_a_ratio() -> None:
    """Times 500 ns apart, each with an interval of 3 %, stood beside the word undecided."""
    assert ratio_cell(Ratio(2.2, None, None, 4, verdict="undecided")) == "4 launches"


def test_what_many_differ_by_most_is_told_wherever_it_is() -> None:
    names = ("posted", "any-source", "any-tag", "any")
    times = {one: time for mode in names for one, time in curve({}, "matching", mode).items()}
    (text,) = texts(times | curve({8: 1.1, 2**15: 4.91}, "matching", "reversed"))
    assert "most: reversed 4.91 times (4.90 \N{EN DASH} 4.91) at 32 KiB" in text


def test_what_changes_often_is_told_from_both_ends_as_far_as_there_is_room() -> None:
    many = curve({8: 1.2, 512: 0.8, 2**15: 1.3}, mode="nonblocking")
    (one,) = texts(curve({}) | many)
    assert one == (
        "pingpong: MPI_Isend takes 20 % longer than MPI_Send at 8 B; 30 % longer at 32 KiB; "
        "no difference (within 3 %) at 3 of 6 sizes; 20 % less time at 512 B"
    )


# ---- The same numbers for programs and on the screen ---------------------------------------------


def test_programs_get_the_ratios_that_the_sentence_quotes() -> None:
    evidence = told_of(curve({}) | curve({8: 1.13}, mode="nonblocking"), noise=NOISE)
    (one,) = headlines_in(evidence)
    record = headline_record(one)
    (fact,) = contrasts(evidence, FACTORS["mode"])
    piece = fact.pieces[0]
    (ratio,) = record["ratios"]
    assert (record["factor"], ratio["verdict"]) == ("mode", "slower")
    assert piece.pooled is not None
    assert [ratio[name] for name in ("estimate", "low", "high")] == [*piece.pooled.ends]
    assert ratio["sizes_bytes"] == [*piece.sizes_bytes]
    assert ratio["base"]["mode"] == "standard"
    assert (ratio["other"]["mode"], ratio["other"]["bytes"]) == ("nonblocking", 8)
    assert json.dumps(record)


def test_ranks_of_which_some_share_cores_and_have_no_state_are_compared() -> None:
    """Of two ranks there is a state of the machine, of four and eight on two cores there is none."""
    result = load(DOCS / "results" / "ring.jsonl.gz")
    found = headlines_of(result, source_of(result, "median").rows)
    assert [(one.factor, one.topic) for one in found] == [("ranks", "ranks")]
    assert found[0].ratios


def test_a_number_that_is_not_known_is_no_finding() -> None:
    assert texts({cell(size=8): 500.0}, noise=1.5) == []
