"""Answers side by side: every line compares one curve at one size, and says which."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from mpigauge.find.answer import answers, lines_of
from mpigauge.rows.rows import rows
from mpigauge.units import format_rate, format_size
from tests.made import (
    PATTERNS,
    RECORDS,
    campaign,
    cell,
    collective,
    in_states,
    launches_of,
    measured,
    result_of,
    written,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from mpigauge.find.answer import Answer, QuoteLine
    from mpigauge.plan.model import Cell
    from mpigauge.result.records import Record
    from tests.conftest import Cli

BY_NAME = {pattern.name: pattern for pattern in PATTERNS}
KIB = 1024
LAUNCHES = range(1, 7)
ONCE = settings(derandomize=True, deadline=None)


def peak_at(best: int) -> Callable[[Cell, int], list[int]]:
    """Samples of a curve whose bandwidth is the best at one size: twice that of the others."""

    def samples_ns(of: Cell, launch: int) -> list[int]:
        bytes_per_ns = 20 if of.bytes == best else 10
        return [round((200 + 2 * of.bytes / bytes_per_ns) * (1 + launch / 1000))] * 4

    return samples_ns


def records_of(cells: Sequence[Cell], samples_ns: Callable[[Cell, int], list[int]]) -> list[Record]:
    """A result with these cells."""
    return [
        campaign(*cells),
        *launches_of(cells, LAUNCHES),
        *measured(cells, LAUNCHES, samples_ns),
        RECORDS[-1],
    ]


def answer_of(cells: Sequence[Cell], best: int = 0) -> Answer:
    """The answer of a result with these cells."""
    (answer,) = answers(rows(result_of(*records_of(cells, peak_at(best)))), BY_NAME)
    return answer


def curve(sizes: Sequence[int], pattern: str = "pingpong", mode: str = "standard") -> list[Cell]:
    """A curve of two ranks."""
    return [cell(pattern, size, mode) for size in sizes]


def line_of(lines: Sequence[QuoteLine], quoted_as: str) -> QuoteLine:
    """The line of a question."""
    return next(line for line in lines if line.first.quoted_as == quoted_as)


def line_in(text: str, beginning: str) -> str:
    """The line of a screen that begins so."""
    return next(line.strip() for line in text.splitlines() if line.strip().startswith(beginning))


LARGE = (8, 512 * KIB, 1024 * KIB)


@pytest.fixture
def two(machine: Path) -> list[Path]:
    """Two results of one machine, of which one was best at 512 KiB, the other at 1 MiB."""
    return [
        written(f"best{best}.jsonl", *records_of(curve(LARGE), peak_at(best)))
        for best in (512 * KIB, 1024 * KIB)
    ]


def test_the_best_bandwidths_of_columns_are_of_one_size_which_the_line_names(
    two: list[Path], cli: Cli
) -> None:
    text = cli("show", *two).out
    line = line_in(text, "bandwidth")
    quick, full = (answer_of(curve(LARGE), best) for best in (512 * KIB, 1024 * KIB))
    found = line_of(lines_of([quick, full]), "bandwidth")
    (size,) = {quote.row.cell.bytes for quote in found.quotes if quote}
    rates = [quote.value or 0.0 for quote in found.quotes if quote]
    assert line.startswith(f"bandwidth, {format_size(size)} ")
    assert all(format_rate(rate) in line for rate in rates)
    assert max(rates) == pytest.approx(2 * min(rates), rel=0.05), "at that size the two differ twofold"
    assert max(rates) == max(
        line_of(lines_of([one]), "bandwidth").first.value or 0.0 for one in (quick, full)
    )


def test_over_sessions_a_bandwidth_lies_between_those_of_the_columns(two: list[Path], cli: Cli) -> None:
    later = two[1].read_text(encoding="utf-8").replace("2026-01-01T", "2026-01-09T")
    two[1].write_text(later, encoding="utf-8")
    text = cli("show", *two, "--unit", "GB/s").out
    assert "over sessions" in text
    words = (
        line_in(text, "bandwidth").partition(" KiB ")[2] or line_in(text, "bandwidth").partition(" MiB ")[2]
    )
    first, second, over = (float(part.split()[-1]) for part in words.split(" GB/s")[:3])
    assert min(first, second) <= over <= max(first, second)


def test_a_single_column_keeps_its_best_and_names_the_size_beside_it(two: list[Path], cli: Cli) -> None:
    line = line_in(cli("show", two[0]).out, "bandwidth")
    assert not line.startswith("bandwidth,")
    assert "pingpong at 512 KiB" in line


def test_without_a_common_size_every_number_says_its_own(machine: Path, cli: Cli) -> None:
    paths = [
        written(f"of{size}.jsonl", *records_of(curve((size,)), peak_at(0))) for size in (64 * KIB, 256 * KIB)
    ]
    line = line_in(cli("show", *paths).out, "bandwidth")
    assert not line.startswith("bandwidth,")
    assert "% at 64 KiB" in line
    assert "% at 256 KiB" in line


def test_one_curve_is_compared_though_another_is_faster_in_one_column() -> None:
    """Modes are as unlike as sizes."""
    both = [*curve(LARGE), *curve((2048 * KIB,), mode="nonblocking")]
    line = line_of(lines_of([answer_of(both, 2048 * KIB), answer_of(curve(LARGE))]), "bandwidth")
    assert {quote.row.cell.mode for quote in line.quotes if quote} == {"standard"}
    assert line.modes


def test_a_mode_is_said_where_a_result_has_several(machine: Path, cli: Cli) -> None:
    cells = [*curve(LARGE), *curve(LARGE, mode="nonblocking")]
    paths = [written(f"{n}.jsonl", *records_of(cells, peak_at(0))) for n in range(2)]
    assert line_in(cli("show", *paths).out, "latency").startswith("latency, standard, 8 B ")


@pytest.mark.parametrize(
    ("cells", "quoted_as"),
    [
        ([cell("memcpy", size) for size in LARGE], "memory-bandwidth"),
        ([*curve(LARGE), *(cell("memcpy", size) for size in LARGE)], "copies"),
        ([collective("allreduce", size) for size in (4, 8, 64)], "operation"),
        ([cell("stream", size, "unidirectional", window=64) for size in (8, 64)], "message-rate"),
    ],
)
def test_lines_of_all_kinds_compare_one_size(cells: list[Cell], quoted_as: str) -> None:
    """Also where a column has not the size that it would quote alone."""
    less = [one for one in cells if one.bytes not in (8, 1024 * KIB)]
    columns = [answer_of(cells), answer_of(less)]
    line = line_of(lines_of(columns), quoted_as)
    first, second = (quote for quote in line.quotes if quote)
    assert line.alike
    assert first.row.cell.bytes == second.row.cell.bytes
    assert first.value == pytest.approx(second.value)


def test_what_imported_numbers_do_not_say_keeps_them_in_the_line_of_ours() -> None:
    """The root of a broadcast and how its ranks start, where that is as usual."""
    ours, theirs = collective("bcast", 8), cell("bcast", 8, "blocking")
    (line,) = lines_of([answer_of([ours]), answer_of([theirs])])
    assert line.alike
    other = collective("bcast", 8, root="1")
    (line,) = lines_of([answer_of([ours]), answer_of([other])])
    assert not line.alike


EXCHANGE = [*curve((8, 64), "exchange", "blocking"), *curve(LARGE, "exchange", "nonblocking")]


def test_what_was_varied_is_in_the_answer_each_mode_with_its_latency_and_its_bandwidth(
    machine: Path, cli: Cli
) -> None:
    """An exchange has no time one way: its own time stands for it."""
    places = [replace(one, transport=way) for way in ("shm", "tcp") for one in EXCHANGE]
    text = cli("show", written("places.jsonl", *records_of(places, peak_at(0)))).out
    for beginning in (
        "exchange blocking, 8 B ",
        "exchange nonblocking, 8 B ",
        "both directions, blocking, 64 B ",
        "both directions, nonblocking, 1 MiB ",
    ):
        assert line_in(text, beginning).count("\N{PLUS-MINUS SIGN}") == 2, "a number in each place"
    alone = cli("show", written("alone.jsonl", *records_of(EXCHANGE, peak_at(0)))).out
    assert line_in(alone, "both directions, blocking, 64 B ")
    assert line_in(alone, "exchange nonblocking, 8 B ")


def slower(of: Cell, launch: int) -> list[int]:
    """Messages over TCP take twice as long, of MPICH half as long again, up to 1 ns for a launch."""
    factor = (2 if of.transport == "tcp" else 1) * (1.5 if of.mpi == "mpich" else 1)
    return [round((20_000 + 2 * of.bytes) * factor) + launch] * 4


def test_each_number_has_its_ratio_to_that_of_the_first_value_beside_it(machine: Path, cli: Cli) -> None:
    places = [replace(one, transport=way) for way in ("shm", "tcp") for one in curve(LARGE)]
    text = cli("show", written("places.jsonl", *records_of(places, slower))).out
    assert line_in(text, "latency, 8 B ").endswith("  2.00\N{MULTIPLICATION SIGN}")
    assert line_in(text, "bandwidth, 1 MiB ").endswith("  2.00\N{MULTIPLICATION SIGN} lower"), "of rates"
    assert "ratio: to shm at the same size, mean of the launches' ratios" in text.splitlines()
    assert "all findings:    mpigauge explain places.jsonl" in text.splitlines()


def test_more_than_two_values_have_a_row_each_the_first_one_on_top(machine: Path, cli: Cli) -> None:
    """Blocks of two columns had the first value and its ratios in different places."""
    ways = [replace(one, placement=hosts) for hosts in ("h1,h2", "h1,h3", "h1,h4") for one in curve(LARGE)]

    def times_ns(of: Cell, launch: int) -> list[int]:
        return [
            round(
                (20_000 + 2 * of.bytes)
                * (1 + ("h1,h3", "h1,h4").index(of.placement) if of.placement != "h1,h2" else 0.5)
            )
            + launch
        ] * 4

    path = written("ways.jsonl", *records_of(ways, times_ns))
    lines = [line.strip() for line in cli("show", path).out.splitlines()]
    first = next(place for place, line in enumerate(lines) if line.startswith("latency, 8 B"))
    assert "h1,h2" in lines[first]
    assert "\N{MULTIPLICATION SIGN}" not in lines[first]
    assert lines[first + 1].startswith("h1,h3")
    assert lines[first + 2].startswith("h1,h4")
    assert all(line.endswith("\N{MULTIPLICATION SIGN}") for line in lines[first + 1 : first + 3])
    suite = cli("show", path, "--format", "junit").out
    assert suite.count('name="latency, 8 B"') == 1, "one case for each question, as ever"


def test_of_many_modes_the_latency_has_a_row_each_and_the_rest_is_of_the_plain_one(
    machine: Path, cli: Cli
) -> None:
    """The best of eleven curves is the luckiest one."""
    names = [mode.name for mode in BY_NAME["pingpong"].modes]
    modes = [one for name in names for one in curve(LARGE, mode=name)]

    def times_ns(of: Cell, launch: int) -> list[int]:
        lucky = 0.9 if of.mode == "ready" and of.bytes > 8 else 1.0
        return [round((20_000 + 2 * of.bytes) * lucky) + launch] * 4

    text = cli("show", written("modes.jsonl", *records_of(modes, times_ns))).out
    rows_of_modes = [line for line in text.splitlines() if line.strip().startswith("latency, ")]
    assert len(rows_of_modes) == len(names)
    assert rows_of_modes[0].strip().startswith("latency, standard, 8 B ")
    assert line_in(text, "latency, halves (in 2 calls), 8 B ")
    assert [line for line in text.splitlines() if line.strip().startswith("bandwidth, ")] == [
        line for line in text.splitlines() if "bandwidth, standard, 1 MiB" in line
    ]
    assert re.search(r"^\d+ more numbers: ", text, re.MULTILINE)


def test_side_by_side_times_of_a_part_say_from_when_on_they_are(machine: Path, cli: Cli) -> None:
    parts = [
        replace(cell("early-bird", 4 * KIB, "partitioned", partitions=8), transport=way)
        for way in ("shm", "tcp")
    ]
    text = cli("show", written("parts.jsonl", *records_of(parts, slower))).out
    assert "early-bird: times are from the last partition on" in text.splitlines()
    alone = cli("show", written("alone.jsonl", *records_of(parts[:1], slower))).out
    assert line_in(alone, "early-bird").endswith("from the last partition on")
    assert "times are" not in alone


def test_what_is_compared_stands_side_by_side_and_of_many_jobs_the_first_are_shown(
    machine: Path, cli: Cli
) -> None:
    mpich = {"mpi": "mpich", "mpi_version": "5.0.2"}
    jobs = [
        replace(one, placement=hosts, **library)
        for library in ({}, mpich)
        for hosts in ("h1,h2", "h1,h3", "h1,h4")
        for one in curve(LARGE)
    ]
    lines = cli("show", written("jobs.jsonl", *records_of(jobs, slower))).out.splitlines()
    heading = next(line for line in lines if line.strip().startswith("Open MPI") and "MPICH" in line)
    libraries = ("Open MPI 5.0.11", "MPICH 5.0.2")
    names = [f"{library}, {hosts}" for hosts in ("h1,h2", "h1,h3") for library in libraries]
    places = [heading.index(name) for name in names]
    assert places == sorted(places)
    assert heading.count("ratio") == len(libraries)
    assert "h1,h4" not in heading
    assert any(line.startswith("2 more jobs") for line in lines)


def test_states_of_little_time_make_way_where_columns_do_not_fit(machine: Path, cli: Cli) -> None:
    """A state of two launches has no intervals worth a column."""
    jobs = [replace(one, mpi_version=f"5.0.{n}") for n in (2, 3, 4) for one in curve([8])]
    course = [["far", "far"]] * 6 + [["mid", "mid"]] * 6 + [["near", "near"]] * 2
    visits = in_states(jobs, course, lambda of, _, launch: slower(of, launch))
    made = (campaign(*jobs), *launches_of(jobs, range(1, len(course) + 1)), *visits, RECORDS[-1])
    lines = cli("show", written("states.jsonl", *made)).out.splitlines()
    numbers = [line for line in lines if "Open MPI 5.0." in line and "\N{PLUS-MINUS SIGN}" in line]
    assert {line.split("cores ")[1].split()[0] for line in numbers} == {"far", "mid"}
    assert any(re.match(r"\d more columns: +mpigauge show --all", line) for line in lines)


def test_a_number_of_all_states_is_marked_in_the_column_of_each(machine: Path, cli: Cli) -> None:
    """Side by side, one number twice was read as that of either state, and as no difference between them."""
    course = [["far", "far"]] * 6 + [["near", "near"]] * 6
    of_states, of_all = curve([8]), [collective("barrier")]
    numbers = range(1, len(course) + 1)
    visits = [
        *in_states(of_states, course, lambda of, _, launch: slower(of, launch)),
        *measured(of_all, numbers, slower),
    ]
    cells = [*of_states, *of_all]
    made = (campaign(*cells), *launches_of(cells, numbers), *visits, RECORDS[-1])
    text = cli("show", written("states.jsonl", *made)).out
    assert line_in(text, "barrier ").count("(all)") == 2
    assert "(all)" not in line_in(text, "latency, ")
    assert line_in(text, "(all)").startswith("(all): of all states together")


def test_of_a_single_job_every_mode_has_its_ratio_and_its_size(machine: Path, cli: Cli) -> None:
    def samples_ns(of: Cell, launch: int) -> list[int]:
        return [round((20_000 + 2 * of.bytes) * (3 if of.mode == "synchronous" else 1)) + launch] * 4

    cells = [*curve(LARGE), *curve(LARGE, mode="synchronous")]
    text = cli("show", written("modes.jsonl", *records_of(cells, samples_ns))).out
    assert text.startswith("pingpong: MPI_Ssend takes on average 3.00 times as long as MPI_Send at all ")
    assert line_in(text, "latency, synchronous, 8 B ").endswith("  3.00\N{MULTIPLICATION SIGN}")
    assert not line_in(text, "latency, standard, 8 B ").endswith("\N{MULTIPLICATION SIGN}")
    assert line_in(text, "bandwidth, synchronous, 1 MiB ").endswith("  3.00\N{MULTIPLICATION SIGN} lower")


def test_beside_collectives_a_question_has_one_line(machine: Path, cli: Cli) -> None:
    both = [*curve(LARGE), *curve(LARGE, mode="nonblocking"), collective("barrier")]
    text = cli("show", written("both.jsonl", *records_of(both, peak_at(0)))).out
    found = [line for line in text.splitlines() if line.strip().startswith(("latency", "bandwidth"))]
    assert [line.split()[0].strip(",") for line in found] == ["latency", "bandwidth"]


sizes = st.sets(st.sampled_from([0, 1, 8, 64, KIB, 64 * KIB, 512 * KIB]), min_size=1)


@given(st.lists(st.tuples(sizes, st.sampled_from([64, 64 * KIB, 512 * KIB])), min_size=1, max_size=4))
@ONCE
def test_columns_with_a_size_in_common_are_quoted_at_one(columns: list[tuple[set[int], int]]) -> None:
    lines = lines_of([answer_of(curve(sorted(mine)), best) for mine, best in columns])
    for line in lines:
        asked = [{size for size in mine if size or line.first.quoted_as == "latency"} for mine, _ in columns]
        common = set.intersection(*(mine for mine in asked if mine))
        quoted = {quote.row.cell.bytes for quote in line.quotes if quote}
        assert line.alike == bool(common)
        if common:
            assert len(quoted) == 1
            assert quoted <= common
        if line.alike and line.first.quoted_as == "bandwidth":
            (size,) = quoted
            assert any(size == best for _, best in columns) or not common & {best for _, best in columns}


def test_of_numbers_of_senders_the_most_are_quoted_and_named(machine: Path, cli: Cli) -> None:
    cells = [
        collective("multi-stream", size, "unidirectional", ranks=4, window=64, senders=senders, group=group)
        for senders, group in ((1, "0,2"), (2, ""))
        for size in (1024, 64 * KIB)
    ]
    path = written("senders.jsonl", *records_of(cells, peak_at(0)))
    assert line_in(cli("show", path).out, "multi-stream bandwidth, 2 senders, 64 KiB")
    said = json.loads(cli("show", path, "--format", "json").out)["answer"]
    assert {one["senders"] for one in said} == {2}


@pytest.mark.parametrize(
    ("factor", "values", "said"),
    [
        ("depth", (0, 16), "matching posted, depth 0, 8 B"),
        ("partitions", (1, 4), "partitioned whole, 1 partition, 8 B"),
        ("block_bytes", (8, 64), "layout derived, blocks of 8 B, every 128 B, 8 B"),
        ("rma_window", ("allocate", "create"), "put flush, window allocate, 8 B"),
        ("rma_window", ("create",), "put flush, window create, 8 B"),
    ],
)
def test_a_number_says_what_others_of_its_pattern_differ_in_and_what_is_unusual(
    factor: str, values: tuple[object, ...], said: str, machine: Path, cli: Cli
) -> None:
    pattern, mode, *_ = said.replace(",", "").split()
    more = {"stride_bytes": 128} if factor == "block_bytes" else {}
    cells = [cell(pattern, 8, mode, **{factor: value}, **more) for value in values]
    path = written("varied.jsonl", *records_of(cells, peak_at(0)))
    text = cli("show", path).out
    assert said in text or said.replace(f"{pattern} {mode}", pattern) in text
    assert all(
        one[factor] == values[0] for one in json.loads(cli("show", path, "--format", "json").out)["answer"]
    )


def test_what_is_usual_and_alike_is_not_said(machine: Path, cli: Cli) -> None:
    path = written("usual.jsonl", *records_of([cell("put", 8, "flush")], peak_at(0)))
    assert line_in(cli("show", path).out, "put, 8 B")


def test_of_one_sided_operations_what_the_target_has_seen_comes_first_and_explain_has_more(
    machine: Path, cli: Cli
) -> None:
    cells = [cell("pingpong", 8), collective("contended", 8, "fetch_and_op", ranks=2)]
    cells += [cell("put", 8, "flush"), cell("put-notify", 8, "flag")]
    path = written("windows.jsonl", *records_of(cells, peak_at(0)))
    text = cli("show", path).out
    names = ["put-notify, 8 B", "put, 8 B", "contended", "latency, 8 B"]
    places = [text.index(f"\n{line_in(text, name)}") for name in names]
    assert places == sorted(places)
    assert "all findings:" in text
