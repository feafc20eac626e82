"""Several results as sessions of each other, on the screen and for programs."""

from __future__ import annotations

import csv
import io
import json
import math
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from mpigauge import units
from mpigauge.compare.session_sentences import count_of, sessions_finding, sessions_line
from mpigauge.rows.machine.over_sessions import SessionIntervals
from tests.made import LIBRARY, RECORDS, campaign, cell, collective, launches_of, measured, written

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mpigauge.plan.model import Cell
    from tests.conftest import Cli

MAX_LINES = 24
SIZES = (8, 4096, 2**20)
CELLS = [
    *(cell(size=size) for size in SIZES),
    *(cell("exchange", size, "nonblocking") for size in SIZES),
    *(cell("stream", size, "unidirectional", window=64) for size in SIZES),
    *(cell("memcpy", size) for size in SIZES),
    collective("barrier"),
    *(collective("allreduce", size) for size in SIZES),
]
FEW = CELLS[:3]


def day(number: int, cells: Sequence[Cell] = FEW, host: str = "node1", **more: Any) -> Path:
    """The result of one day, 10 % slower than that of the day before."""
    longer = 1.1**number

    def samples_ns(of: Cell, launch: int) -> list[int]:
        return [round((2000 + of.bytes // 5) * longer * (1 + launch / 500))] * 4

    first = campaign(*cells)
    started = f"2026-01-{number + 1:02}T00:00"
    first = replace(first, started=f"{started}:00+00:00", environment=replace(first.environment, host=host))
    launches = [
        replace(one, started=f"{started}:{4 * one.number:02}+00:00")
        for one in launches_of(cells, range(1, 6))
    ]
    samples = measured(cells, range(1, 6), samples_ns, **more)
    return written(f"{host}-{number}.jsonl", first, *launches, *samples, RECORDS[-1])


@pytest.fixture
def days(machine: Path) -> list[Path]:
    """Three of them."""
    return [day(number) for number in range(3)]


def test_the_answer_says_both_intervals(days: list[Path], cli: Cli) -> None:
    text = cli("show", *days).out
    (both,) = [line for line in text.splitlines() if line.startswith("intervals")]
    assert " within 16 s " in both
    assert both.endswith(" over 3 sessions, 2 days")
    lines = text.splitlines()
    assert "node1" in lines[0]
    assert "2026-01-01 to 2026-01-03" in lines[0]
    assert "3 sessions" in lines[0]
    assert "15 launches" in lines[1]
    assert any("over sessions" in line for line in lines)


def test_the_column_has_the_geometric_mean_of_the_sessions(days: list[Path], cli: Cli) -> None:
    said = json.loads(cli("show", *days, "--format", "json").out)
    mine = [one for one in said["answer"] if one["quantity"] == "latency"]
    over = mine[0]["sessions"]
    assert [one["sessions"] for one in mine] == [over] * 3
    assert over["count"] == 3
    middle = math.exp(sum(math.log(one["value"]) for one in mine) / 3)
    assert over["time_s"]["estimate"] == pytest.approx(middle)
    latency = next(line for line in cli("show", *days, "--unit", "ns").out.splitlines() if "latency" in line)
    assert f"{1e9 * middle:.0f}" in latency.rpartition(" ns ")[0].split()[-1].replace(",", "")
    (found,) = said["findings"]
    assert found["kind"] == "sessions"
    assert found["files"] == [str(path) for path in days]
    assert found["value"]["over"] == pytest.approx(over["time_s"]["half_width"], rel=0.01)


@pytest.mark.parametrize("count", [1, 2, 3, 6, 8])
def test_it_stays_one_screen(count: int, machine: Path, cli: Cli) -> None:
    paths = [day(number, CELLS) for number in range(count)]
    assert len(cli("show", *paths).out.splitlines()) <= MAX_LINES


@pytest.mark.parametrize("table", ["answer", "times", "rates", "latency", "summary"])
def test_tables_have_it_for_programs(table: str, days: list[Path], cli: Cli) -> None:
    asked = ["show", *days, "--table", table, "--format"]
    lines = [*csv.DictReader(io.StringIO(cli(*asked, "csv").out))]
    assert {line["sessions_count"] for line in lines} == {"3"}
    for line in lines:
        low, middle, high = (float(line[f"sessions_time_{name}_s"]) for name in ("low", "estimate", "high"))
        assert low < middle < high
        assert float(line["sessions_time_half_width"]) == pytest.approx(high / middle - 1)
    said = json.loads(cli(*asked, "json").out)
    assert [one["kind"] for one in said["findings"]].count("sessions") == 1


def test_rows_of_one_result_have_the_field(days: list[Path], cli: Cli) -> None:
    (row, *_) = json.loads(cli("show", days[0], "--format", "json").out)["rows"]
    assert row["sessions"] is None
    (line, *_) = csv.DictReader(io.StringIO(cli("show", days[0], "--format", "csv").out))
    assert "sessions_count" not in line, "no line has any"


def test_another_machine_stands_beside_and_is_no_session(days: list[Path], cli: Cli) -> None:
    other = day(5, host="node2")
    alone = cli("show", days[0], other).out
    assert "sessions" not in alone
    lines = cli("show", *days[:2], other).out.splitlines()
    (both,) = [line for line in lines if "intervals" in line and not line.startswith("! ")]
    assert both.startswith("node1-0, node1-1: ")
    assert any(line.startswith("node2-5: node2") for line in lines)


def test_another_build_of_the_library_is_no_session(machine: Path, cli: Cli) -> None:
    first, second = day(0), day(1)
    text = second.read_text(encoding="utf-8")
    assert f'"flags":"{LIBRARY.flags}"' in text
    second.write_text(text.replace(f'"flags":"{LIBRARY.flags}"', '"flags":"-O0"'), encoding="utf-8")
    assert "sessions" not in cli("show", first, second).out


def test_results_of_one_moment_are_no_sessions(machine: Path, cli: Cli) -> None:
    path = day(0)
    copy = path.with_name("copy.jsonl")
    copy.write_bytes(path.read_bytes())
    assert "sessions" not in cli("show", path, copy).out


def test_that_ranks_were_elsewhere_is_said(machine: Path, cli: Cli) -> None:
    text = cli("show", day(0, line_ns=[40.0, 40.0]), day(1, line_ns=[245.0, 245.0])).out
    assert "over sessions" not in text
    assert "no sessions of each other: node1-0 and node1-1, whose ranks were 40.0 ns and 245 ns apart" in text


def test_what_two_sessions_cannot_tell_is_a_factor_as_everywhere() -> None:
    spans = SessionIntervals((0, 1), 2, 0.011, 43.0, 37.5, 3 * 86_400.0)
    line = sessions_line(spans, ["a", "b"])
    assert line.startswith("a, b: ")
    assert "1.1 %" in line
    assert "within 43 s" in line
    assert units.format_relative(37.5) in line
    assert line.endswith("2 sessions, 3 days")
    assert sessions_finding(spans).value["over"] == 37.5


def test_one_session_is_not_several() -> None:
    assert [count_of(1), count_of(2)] == ["1 session", "2 sessions"]
