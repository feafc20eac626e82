"""The control arm on fake libraries: made where two are compared, seen by `compare`, and by no table."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.errors import EXIT_CHECK_FAILED, EXIT_DONE, EXIT_UNDECIDED, EXIT_USAGE
from mpigauge.result.reader import load
from mpigauge.vocabulary import CONTROL
from tests.fakes.mpi import install

if TYPE_CHECKING:
    from tests.conftest import Cli, Install

WORDS = ("run", "pingpong", "memcpy", "--sizes", "8,1KiB", "--samples", "40", "--seed", "7", "-q")
PATH = Path("r.jsonl")


@pytest.fixture
def two(fake_mpi: Install, machine: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """Words for two builds of one version, the second half as slow again."""
    monkeypatch.setenv("FAKE_JITTER", "0.01")
    first = fake_mpi("mpich", "5.0.2", latency_ns=10_000).mpicc
    second = install(machine / "other", "mpich", "5.0.2", latency_ns=15_000).mpicc
    return ("--mpi", f"main={first}", "--mpi", f"pr={second}", "--launches", "8", "-o", str(PATH))


def compared(cli: Cli, *words: str) -> tuple[int, dict[str, Any]]:
    done = cli("compare", *words, "--format", "json")
    return done.status, json.loads(done.out)


def arms() -> dict[str, set[str]]:
    """The patterns of each arm."""
    cells = load(PATH).campaign.cells
    return {arm: {cell.pattern for cell in cells if cell.arm == arm} for arm in {c.arm for c in cells}}


def slow_control() -> None:
    """Messages of the control arm take longer by a third, as if the machine had moved."""
    lines = []
    for line in PATH.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        cell = record.get("cell", {})
        if record["type"] == "visit" and (cell["arm"], cell["pattern"]) == (CONTROL, "pingpong"):
            record["samples_ns"] = [round(1.3 * ns) for ns in record["samples_ns"]]
        lines.append(json.dumps(record))
    PATH.write_text("\n".join([*lines, ""]), encoding="utf-8")


@pytest.mark.thorough
def test_two_builds_have_a_control_that_is_no_third_side(cli: Cli, two: tuple[str, ...]) -> None:
    assert cli(*WORDS, *two).status == EXIT_DONE
    assert arms() == {"": {"null", "pingpong", "memcpy"}, CONTROL: {"null", "pingpong"}}
    assert load(PATH).campaign.plan.control == "yes"
    status, said = compared(cli, str(PATH))
    assert (status, said["verdict"]) == (EXIT_CHECK_FAILED, "slower")
    assert said["sides"] == "pr MPICH 5.0.2 against main MPICH 5.0.2"
    assert {one["other"]["label"] for one in said["cells"]} == {"pr"}
    mine = [one for one in said["controls"] if one["pattern"] == "pingpong"]
    assert [one["other"] for one in mine] == [{"arm": CONTROL}] * 2
    assert "measured twice" in cli("compare", str(PATH)).out


@pytest.mark.thorough
def test_tables_leave_the_control_out_and_say_so(cli: Cli, two: tuple[str, ...]) -> None:
    cli(*WORDS, *two)
    rows = json.loads(cli("show", str(PATH), "--format", "json").out)["rows"]
    counts = Counter((row["pattern"], row["bytes"], row["label"]) for row in rows)
    assert set(counts.values()) == {1}
    assert "control: main MPICH 5.0.2, measured a second time" in cli("show", "--all", str(PATH)).out
    assert CONTROL not in cli("show", str(PATH), "--table", "times").out


@pytest.mark.thorough
def test_a_control_that_moves_takes_the_verdict_back(cli: Cli, two: tuple[str, ...]) -> None:
    cli(*WORDS, *two)
    slow_control()
    status, said = compared(cli, str(PATH))
    assert (status, said["verdict"]) == (EXIT_UNDECIDED, "machine")
    assert {one["said"] for one in said["cells"]} == {"longer"}
    head = cli("compare", str(PATH)).out.splitlines()[0]
    moved = "the machine moved: pingpong of one library, measured twice, changed, which cannot differ; "
    assert head.startswith(moved)


@pytest.mark.thorough
def test_one_moved_control_is_enough_until_decided(cli: Cli, two: tuple[str, ...]) -> None:
    assert cli(*WORDS, *two, "--until", "decided").status == EXIT_DONE
    assert CONTROL in arms()
    slow_control()
    assert compared(cli, str(PATH))[0] == EXIT_UNDECIDED


@pytest.mark.thorough
def test_a_campaign_with_a_control_goes_on_as_it_was(cli: Cli, two: tuple[str, ...]) -> None:
    cli(*WORDS, *two)
    whole = [visit.samples_ns for visit in load(PATH).visits]
    lines = PATH.read_text(encoding="utf-8").splitlines(keepends=True)
    PATH.write_text("".join(lines[: len(lines) // 2]), encoding="utf-8")
    assert cli("resume", str(PATH), "-q").status == EXIT_DONE
    assert len([visit.samples_ns for visit in load(PATH).visits]) == len(whole)
    assert compared(cli, str(PATH))[0] == EXIT_CHECK_FAILED


@pytest.mark.parametrize(
    ("words", "there"),
    [
        (("--vary", "A=1,2", "--launches", "5"), True),
        (("--vary", "A=1,2", "--budget", "2min"), True),
        (("--vary", "A=1,2", "--launches", "5", "--control", "no"), False),
        (("--vary", "A=1,2", "--launches", "4"), False),  # no verdict
        (("--vary", "A=1,2", "--budget", "45s"), False),  # no time for a third
        (("--vary", "A=1,2,3", "--launches", "5"), False),  # three
        (("--vary", "A=1,2,3", "--launches", "5", "--control", "yes"), True),
        (("--mode", "standard,synchronous", "--launches", "5"), False),  # nobody says that it is compared
        (("--mode", "standard,synchronous", "--until", "decided"), True),
        (("--launches", "5"), False),  # nothing is compared
    ],
)
def test_where_a_control_is_made(cli: Cli, openmpi: object, words: tuple[str, ...], there: bool) -> None:
    done = cli("run", "pingpong", "--sizes", "8", *words, "--dry-run")
    assert (done.status, "control arm" in done.out) == (EXIT_DONE, there), done.err


def test_a_control_of_nothing_is_refused(cli: Cli, openmpi: object) -> None:
    done = cli("run", "pingpong", "--sizes", "8", "--control", "yes")
    assert (done.status, "nothing is measured in turn" in done.err) == (EXIT_USAGE, True)


@pytest.mark.thorough
def test_a_variable_has_a_control_of_its_first_value(cli: Cli, openmpi: object) -> None:
    words = (*WORDS, "--launches", "6", "-o", str(PATH), "--vary", "FAKE_SLOWER=1,1.5")
    assert cli(*words).status == EXIT_DONE
    assert {c.setting for c in load(PATH).campaign.cells if c.arm} == {"FAKE_SLOWER=1"}
    status, said = compared(cli, str(PATH))
    assert (status, said["sides"]) == (EXIT_CHECK_FAILED, "FAKE_SLOWER=1.5 against FAKE_SLOWER=1")
