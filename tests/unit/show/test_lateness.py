"""Packets of a lab that were late: each line about them ends in what to do with the numbers."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from mpigauge.campaign.lab import start
from mpigauge.campaign.lab.counters import Counters
from mpigauge.cli.sessions import lab_runs
from mpigauge.find.answer import answers
from mpigauge.find.findings import doubts_of
from mpigauge.plan.lab import Lab, Link
from mpigauge.rows.rows import rows
from tests.made import campaign, cell, launches_of, measured, result_of

if TYPE_CHECKING:
    from mpigauge.plan.model import Cell

LAB = Lab(hosts=3, delay="5ms", links=(Link("h1-h2", delay="10us"),))
NEAR, FAR = (cell(placement=f"h1,{host}", transport="tcp") for host in ("h2", "h3"))
COPY = cell("memcpy", placement="h1,h2", transport="tcp")


def doubted(late: dict[Cell, float]) -> str:
    """The doubt about a network of which these shares of packets were late; none but that is asked for."""
    cells, numbers = [NEAR, FAR, COPY], range(1, 8)
    begun = campaign(*cells)
    begun = replace(begun, plan=replace(begun.plan, lab=LAB))
    visits = (
        replace(one, relay_late=late.get(one.cell, 0.0))
        for one in measured(cells, numbers, lambda *_: [60_000] * 40)
    )
    result = result_of(begun, *launches_of(cells, numbers), *visits)
    found = rows(result)
    assert answers(found, {pattern.name: pattern for pattern in begun.patterns})
    lines = [one.line for one in doubts_of(result, found) if one.kind == "relay-late"]
    return "".join(lines)


@pytest.mark.parametrize(
    ("late", "line"),
    [
        ({NEAR: 0.5}, "do not use 1 of 3 numbers, e.g. pingpong 64 B, h1,h2"),
        ({NEAR: 0.5, FAR: 0.5}, "do not use 1 of 3 numbers, e.g. pingpong 64 B, h1,h2"),
        ({FAR: 0.5}, "50.0 µs or more too much in 1 of 3 numbers"),
        ({NEAR: 0.1}, "do not use p95 and p99 of 1 of 3 numbers"),
    ],
)
def test_a_doubt_about_an_emulated_network_says_which_numbers_not_to_use(
    late: dict[Cell, float], line: str
) -> None:
    assert doubted(late) == f"emulated network late: {line}"


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
    assert said.endswith("; numbers that this touches are marked in the result: mpigauge show --all\n")
    assert "do not use" not in said
