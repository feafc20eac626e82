"""Packets of a lab that were late: which numbers are not shown for it, and what to do with the others."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from mpigauge.campaign.lab import start
from mpigauge.campaign.lab.counters import Counters
from mpigauge.cli.sessions import lab_runs
from mpigauge.document.status_words import reason
from mpigauge.find.answer import answers
from mpigauge.find.findings import doubts_of
from mpigauge.plan.lab import Lab, Link
from mpigauge.result.records import End
from mpigauge.rows.rows import rows
from tests.made import campaign, cell, launches_of, measured, result_of, written

if TYPE_CHECKING:
    from mpigauge.plan.model import Cell
    from mpigauge.result.reader import Result
    from tests.conftest import Cli

MODES = ("standard", "synchronous", "nonblocking", "persistent")
LAB = Lab(hosts=3, delay="5ms", links=(Link("h1-h2", delay="10us"),))
NEAR, FAR = (cell(placement=f"h1,{host}", transport="tcp") for host in ("h2", "h3"))
COPY = cell("memcpy", placement="h1,h2", transport="tcp")


def of_late_packets(late: dict[Cell, float]) -> Result:
    """A result of a network of which these shares of packets were late."""
    cells, numbers = [*dict.fromkeys([NEAR, FAR, COPY, *late])], range(1, 8)
    begun = campaign(*cells)
    begun = replace(begun, plan=replace(begun.plan, lab=LAB))
    visits = (
        replace(one, relay_late=late.get(one.cell, 0.0))
        for one in measured(cells, numbers, lambda *_: [60_000] * 400)
    )
    return result_of(begun, *launches_of(cells, numbers), *visits)


def doubted(late: dict[Cell, float]) -> str:
    """The doubt about these shares of late packets; none but that is asked for."""
    result = of_late_packets(late)
    found = rows(result)
    assert answers(found, {pattern.name: pattern for pattern in result.campaign.patterns})
    lines = [one.line for one in doubts_of(result, found) if one.kind == "relay-late"]
    return "".join(lines)


@pytest.mark.parametrize(
    ("late", "line"),
    [
        ({NEAR: 0.5}, "left out 1 of 3 numbers, e.g. pingpong, h1,h2, 64 B"),
        ({NEAR: 0.5, FAR: 0.5}, "left out 1 of 3 numbers, e.g. pingpong, h1,h2, 64 B"),
        ({FAR: 0.5}, "50.0 µs or more too much in 1 of 3 numbers"),
        ({NEAR: 0.1}, "do not use p95 and p99 of 1 of 3 numbers"),
    ],
)
def test_a_doubt_about_an_emulated_network_says_what_to_do_with_numbers(
    late: dict[Cell, float], line: str
) -> None:
    assert doubted(late) == f"emulated network late: {line}"


def test_a_number_of_late_packets_is_late_and_no_number() -> None:
    """It stood with an interval and a ratio in every table, above a line that said not to use it."""
    near, far, copy = rows(of_late_packets({NEAR: 0.5, FAR: 0.1}))
    assert (near.status, near.time, near.rate_bytes_per_s, near.ratios) == ("late", None, None, {})
    assert reason(near).startswith("late: ")
    assert far.time is not None
    assert (far.status, far.time.p95, far.time.p99) == ("ok", None, None)
    assert copy.time is not None
    assert copy.time.p95 is not None


@pytest.mark.parametrize("stat", ["p95", "p99"])
def test_percentiles_of_late_packets_are_late(stat: str) -> None:
    result = of_late_packets({NEAR: 0.1})
    assert [row.status for row in rows(result, stat)] == ["late", "ok", "ok"]


def test_a_map_keeps_its_numbers_since_all_its_links_are_as_late() -> None:
    link = replace(NEAR, pair="0-1")
    assert [row.status for row in rows(of_late_packets({link: 0.5})) if row.cell == link] == ["ok"]


def test_every_screen_says_late_and_the_foot_names_each_cell(cli: Cli) -> None:
    """And the harmless ones apart from them."""
    late = [replace(NEAR, bytes=size, mode=mode) for mode in MODES for size in (8, 512)]
    result = of_late_packets(dict.fromkeys(late, 0.5) | {FAR: 0.3})
    path = written("late.jsonl", result.campaign, *result.launches, *result.visits, End("launches", 1.0, ""))
    foot = cli("show", path, "--all").out
    (left_out,) = re.findall("^relay-late: left out, (.*)$", foot, re.MULTILINE)
    assert all(f"pingpong {mode}, " in left_out for mode in MODES)
    (kept,) = re.findall("^relay-late: (?!left out)(.*)$", foot, re.MULTILINE)
    assert "or more too much" in kept
    for table in ("times", "rates", "summary"):
        assert re.search(r"\blate", cli("show", path, "--table", table).out)
    found = [
        row
        for row in json.loads(cli("show", path, "--format", "json").out)["rows"]
        if row["status"] == "late"
    ]
    assert len(found) == len(late)
    assert all(row["time_s"] is None and row["reason"].startswith("late: ") for row in found)
    assert all(row["warnings"] == ["relay-late"] for row in found)


def test_copies_in_memory_do_not_wait_for_a_network() -> None:
    assert doubted({COPY: 0.9}) == ""


@pytest.mark.parametrize(
    ("lab", "late", "what"),
    [
        (Lab(delay="40us"), 470, "do not use numbers between hosts"),
        (Lab(delay="5ms"), 470, "50.0 µs or more too much in numbers between hosts"),
        (Lab(delay="40us"), 50, "do not use p95 and p99 of numbers between hosts"),
        (Lab(delay="40us"), 10, ""),
    ],
)
def test_a_lab_ends_with_what_to_do_with_its_numbers(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], lab: Lab, late: int, what: str
) -> None:
    ended = start.LabOutcome(0, Counters(1000, late, 0, 7e-4), queues=True)
    monkeypatch.setattr(start, "run", lambda *_: ended)
    assert lab_runs.enter(lab, ["true"], "the command line") == 0
    said = capfd.readouterr().err
    assert said.endswith(f"; {what}\n") if what else said == ""


@pytest.mark.parametrize(
    "command", [("/usr/bin/mpigauge", "map"), (sys.executable, "-P", "-m", "mpigauge", "run")]
)
def test_what_a_result_says_of_each_number_the_lab_does_not_say_of_all(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    """Beside "do not use 6 of 107 numbers" it would be another verdict on the same numbers."""
    ended = start.LabOutcome(0, Counters(1000, 470, 0, 7e-4), queues=True)
    monkeypatch.setattr(start, "run", lambda *_: ended)
    assert lab_runs.enter(Lab(delay="40us"), command, "the command line") == 0
    said = capfd.readouterr().err
    assert said.endswith("; numbers that this touches are marked: mpigauge show --all\n")
    assert "do not use" not in said
