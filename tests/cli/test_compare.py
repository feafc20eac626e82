"""`mpigauge compare`, on fake libraries of known speed: verdicts, exit statuses, and what it refuses."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from msgspec.structs import replace

from mpigauge.errors import EXIT_CHECK_FAILED, EXIT_DONE, EXIT_UNDECIDED, EXIT_USAGE
from tests.fakes.mpi import install
from tests.made import campaign, cell, launches_of, measured, written

if TYPE_CHECKING:
    from mpigauge.plan.model import Cell
    from mpigauge.vocabulary import Until
    from tests.conftest import Cli, Install

WORDS = ("--sizes", "8,1KiB", "--samples", "40", "--seed", "7", "-q")


@pytest.fixture
def measure(cli: Cli, fake_mpi: Install, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Measures two libraries in turn, the second so much slower, and gives the file."""
    monkeypatch.setenv("FAKE_JITTER", "0.01")

    def run(factor: float, launches: int = 8, patterns: tuple[str, ...] = ("pingpong", "memcpy")) -> str:
        first, second = (
            fake_mpi("openmpi", latency_ns=10_000),
            fake_mpi("mpich", "5.0.2", latency_ns=round(10_000 * factor)),
        )
        both = ("--mpi", str(first.mpicc), "--mpi", str(second.mpicc))
        done = cli("run", *patterns, *both, *WORDS, "--launches", str(launches), "-o", "both.jsonl")
        assert done.status == EXIT_DONE, done.err
        return "both.jsonl"

    return run


def compared(cli: Cli, *words: str) -> tuple[int, dict[str, Any]]:
    done = cli("compare", *words, "--format", "json")
    assert done.err == ""
    return done.status, json.loads(done.out)


@pytest.mark.thorough
def test_a_slower_library_is_named_first(cli: Cli, measure: Any) -> None:
    path = measure(1.5)
    done = cli("compare", path)
    assert done.status == EXIT_CHECK_FAILED
    first, second, *_ = done.out.splitlines()
    assert first.startswith("slower: 2 of 2 numbers")
    assert second.startswith("MPICH 5.0.2 against Open MPI 5.0.11")
    assert "controls did not move" in done.out
    status, said = compared(cli, path, "--by", "mpi")
    assert (status, said["verdict"], said["interleaved"]) == (EXIT_CHECK_FAILED, "slower", True)
    assert {one["bytes"]: one["verdict"] for one in said["cells"]} == {8: "slower", 1024: "slower"}
    for one in said["cells"]:
        assert one["ratio"] == pytest.approx(1.5, rel=0.03)
        assert 1 < one["low"] <= one["ratio"] <= one["high"]
        assert one["other"] == {"mpi": "mpich", "mpi_version": "5.0.2"}
        assert one["paired"]
    assert {one["pattern"] for one in said["controls"]} >= {"memcpy"}
    assert [rate["planted"] for rate in said["rates"]] == [0.0, 0.03, 0.05, 0.1]


@pytest.mark.thorough
def test_equals_pass_and_so_does_what_is_faster(cli: Cli, measure: Any) -> None:
    path = measure(1.0)
    status, said = compared(cli, path)
    assert (status, said["verdict"]) == (EXIT_DONE, "same")
    assert compared(cli, path, "--strict")[0] == EXIT_DONE


@pytest.mark.thorough
def test_a_margin_says_what_matters(cli: Cli, measure: Any) -> None:
    path = measure(1.05)
    assert compared(cli, path)[0] == EXIT_CHECK_FAILED
    status, said = compared(cli, path, "--margin", "8%")
    assert (status, said["margin"]) == (EXIT_DONE, 0.08)
    assert all(one["small"] for one in said["cells"])
    status, said = compared(cli, path, "--margin", "8%", "--allow", "8%")
    assert status == EXIT_DONE
    assert compared(cli, path, "--margin", "0")[0] == EXIT_CHECK_FAILED
    done = cli("compare", path, "--margin", "20%")
    assert (done.status, "--allow 10% is less" in done.err) == (EXIT_USAGE, True)


def test_few_launches_are_undecided(cli: Cli, measure: Any) -> None:
    path = measure(1.5, launches=3)
    done = cli("compare", path)
    assert done.status == EXIT_UNDECIDED
    assert "too few launches: 2" in done.out


@pytest.mark.thorough
def test_two_results_give_no_verdict(cli: Cli, measure: Any) -> None:
    Path(measure(1.0)).rename("before.jsonl")
    Path(measure(1.5)).rename("after.jsonl")
    status, said = compared(cli, "before.jsonl", "after.jsonl")
    assert (status, said["verdict"], said["interleaved"]) == (EXIT_UNDECIDED, "undecided", False)
    assert "longer" in {one["said"] for one in said["cells"]}
    assert not {one["verdict"] for one in said["cells"]} & {"slower", "faster"}


@pytest.mark.thorough
def test_results_of_two_machines_are_refused_unless_forced(cli: Cli, measure: Any) -> None:
    text = Path(measure(1.0)).read_text(encoding="utf-8")
    head, _, rest = text.partition("\n")
    other = json.loads(head)
    other["environment"] |= {"host": "elsewhere", "cpu": "Another CPU"}
    Path("other.jsonl").write_text(json.dumps(other) + "\n" + rest, encoding="utf-8")
    done = cli("compare", "both.jsonl", "other.jsonl")
    assert done.status == EXIT_USAGE
    assert "elsewhere" in done.err
    assert "Another CPU" in done.err
    assert cli("compare", "both.jsonl", "other.jsonl", "--force").status == EXIT_UNDECIDED


@pytest.mark.thorough
def test_what_cannot_be_compared_is_said(cli: Cli, measure: Any, fake_mpi: Install) -> None:
    path = measure(1.0, launches=2)
    alone = fake_mpi("intelmpi", "2021.18.1")
    cli("run", "barrier", "--mpi", str(alone.mpicc), *WORDS, "--launches", "2", "-o", "one.jsonl")
    for words, expected in (
        (("one.jsonl",), "it has one of everything"),
        ((path, "--by", "transport"), "nothing differs in transport"),
        ((path, path, path), "3 results: two can be compared"),
        ((path, "one.jsonl", "--by", "mpi"), "--by compares within one result"),
        ((path, "one.jsonl"), "has no cell that"),
        (("none.jsonl",), "none.jsonl"),
    ):
        done = cli("compare", *words)
        assert done.status == EXIT_USAGE, words
        assert expected in done.err


@pytest.mark.thorough
def test_every_format_has_all_of_it(cli: Cli, measure: Any) -> None:
    path = measure(1.5)
    records = list(csv.DictReader(io.StringIO(cli("compare", path, "--format", "csv").out)))
    assert {one["verdict"] for one in records if one["pattern"] == "pingpong"} == {"slower"}
    suite = ET.fromstring(cli("compare", path, "--format", "junit").out)  # noqa: S314 - our own
    assert suite.get("failures") == "2"
    assert "slower" in (suite.find("testcase/failure") or suite).get("message", "slower")
    assert "slower" in cli("compare", path, "--format", "markdown").out
    for size in ("8", "1 KiB"):
        assert size in cli("compare", path, "--all").out


def test_what_is_open_is_no_pass_in_junit(cli: Cli, measure: Any) -> None:
    """Of too few launches each number is a case that was skipped."""
    done = cli("compare", measure(1.0, launches=3), "--all", "--format", "junit")
    suite = ET.fromstring(done.out)  # noqa: S314 - our own
    assert (done.status, suite.get("tests"), suite.get("skipped")) == (EXIT_UNDECIDED, "2", "2")


@pytest.mark.thorough
def test_only_what_is_asked_for_is_compared(cli: Cli, measure: Any) -> None:
    path = measure(1.5)
    _, said = compared(cli, path, "--sizes", "8")
    assert [one["bytes"] for one in said["cells"]] == [8]


# ---- What differs anyway -------------------------------------------------------------------------


def ways(path: str, *, slower: float = 1.5, launches: int = 8, until: Until = "precise", **other: Any) -> str:
    """Three sizes in two ways, two modes unless told otherwise, of which the second takes so long."""
    chance = np.random.default_rng(3)
    first, *_ = cells = [
        cell(size=size, **more) for more in ({}, other or {"mode": "synchronous"}) for size in (8, 64, 512)
    ]
    same = {"mode": first.mode, "transport": first.transport, "setting": first.setting}

    def samples_ns(of: Cell, _: int) -> list[int]:
        base = all(getattr(of, name) == value for name, value in same.items())
        return [round((1e6 if base else 1e6 * slower) * np.exp(0.002 * chance.normal()))] * 5

    head = campaign(*cells)
    head = replace(head, plan=replace(head.plan, until=until))
    numbers = range(1, launches + 1)
    written(path, head, *launches_of(cells, numbers), *measured(cells, numbers, samples_ns))
    return path


@pytest.mark.parametrize("other", [{"mode": "synchronous"}, {"transport": "tcp"}], ids=["mode", "transport"])
def test_ways_that_nobody_asked_about_have_ratios_and_no_verdict(
    cli: Cli, machine: Path, other: dict[str, Any]
) -> None:
    """They differ anyway: a job that compares whatever was measured must not be red by them."""
    (by,) = other
    path = ways("ways.jsonl", **other)
    done = cli("compare", path)
    assert (done.status, done.err) == (EXIT_DONE, "")
    assert f"no verdict on {by}: of 3 numbers 3 slower, 0 faster, 0 the same, 0 undecided" in done.out
    assert "1.50 (" in done.out
    assert f"--by {by}" in done.out
    status, said = compared(cli, path)
    assert (status, said["asked"], {one["verdict"] for one in said["cells"]}) == (
        EXIT_DONE,
        False,
        {"slower"},
    )
    suite = ET.fromstring(cli("compare", path, "--format", "junit").out)  # noqa: S314 - our own
    assert (suite.get("tests"), suite.get("failures")) == ("3", "0")


def test_whoever_asks_gets_a_verdict_on_whatever_differs(cli: Cli, machine: Path) -> None:
    path = ways("ways.jsonl")
    for words in (("--by", "mode"), ("--strict",)):
        status, said = compared(cli, path, *words)
        assert (status, said["asked"], said["verdict"]) == (EXIT_CHECK_FAILED, True, "slower")
    assert compared(cli, ways("until.jsonl", until="decided"))[0] == EXIT_CHECK_FAILED


def test_a_setting_may_regress_and_has_a_verdict_unasked(cli: Cli, machine: Path) -> None:
    status, said = compared(cli, ways("settings.jsonl", setting="A=2"))
    assert (status, said["asked"], said["verdict"]) == (EXIT_CHECK_FAILED, True, "slower")


@pytest.mark.parametrize("slower", [1.0, 1.5])
def test_ratios_are_on_the_screen_whatever_the_verdict(cli: Cli, machine: Path, slower: float) -> None:
    """Also where nothing differs, where launches are too few, and of two results."""
    ways("here.jsonl", setting="A=2", slower=slower)
    few = ways("few.jsonl", setting="A=2", launches=3, slower=slower)
    for words in (("here.jsonl",), ("here.jsonl", few), (few,)):
        lines = cli("compare", *words).out.splitlines()
        expected = "1.00" if len(words) > 1 else f"{slower:.2f}"
        assert any(expected in line.split() for line in lines), words


def test_the_headline_has_all_counts(cli: Cli, machine: Path) -> None:
    ways("here.jsonl", setting="A=2")
    ways("there.jsonl", setting="A=2", slower=2.0)
    first = cli("compare", "here.jsonl").out.splitlines()[0]
    assert first == "slower: 3 of 3 numbers; 0 faster, 0 the same, 0 undecided"
    first = cli("compare", "here.jsonl", "there.jsonl").out.splitlines()[0]
    assert first.endswith("; of 6 numbers 3 longer, 0 shorter, 3 the same, 0 undecided")
    assert "may be the machine" in first


# ---- Two of anything -----------------------------------------------------------------------------


@pytest.mark.thorough
def test_two_builds_of_one_version_have_labels(cli: Cli, fake_mpi: Install, machine: Path) -> None:
    """Of the same kind and version, in folders of their own; a campaign of them goes on as it was."""
    first, second = (
        str(fake_mpi("mpich", "5.0.2").mpicc),
        str(install(machine / "other", "mpich", "5.0.2").mpicc),
    )
    words = ("run", "pingpong", *WORDS, "--launches", "6", "-o", "r.jsonl")
    refused = cli(*words, "--mpi", first, "--mpi", second)
    assert (refused.status, "--mpi main=PATH" in refused.err) == (EXIT_USAGE, True)
    assert cli(*words, "--mpi", f"main={first}", "--mpi", f"pr={second}").status == EXIT_DONE
    status, said = compared(cli, "r.jsonl", "--by", "label")
    assert (status, said["sides"]) == (EXIT_DONE, "pr MPICH 5.0.2 against main MPICH 5.0.2")
    assert {(one["label"], one["other"]["label"]) for one in said["cells"]} == {("main", "pr")}
    head, *lines = Path("r.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    Path("r.jsonl").write_text("".join([head, *lines[:4]]), encoding="utf-8")
    assert cli("resume", "r.jsonl", "-q").status == EXIT_DONE
    assert compared(cli, "r.jsonl")[0] == EXIT_DONE
    assert "main MPICH 5.0.2" in cli("show", "r.jsonl", "--table", "times").out


@pytest.mark.thorough
def test_a_library_measured_twice_is_a_control(cli: Cli, fake_mpi: Install, machine: Path) -> None:
    """The same one under two labels cannot differ; but if there is nothing else, that is what is asked."""
    first = str(fake_mpi("mpich", "5.0.2", latency_ns=10_000).mpicc)
    second = str(install(machine / "other", "mpich", "5.0.2", latency_ns=15_000).mpicc)
    words = ("run", "pingpong", *WORDS, "--launches", "8")
    arms = ("--mpi", f"main={first}", "--mpi", f"again={first}")
    assert cli(*words, *arms, "--mpi", f"pr={second}", "-o", "three.jsonl").status == EXIT_DONE
    status, said = compared(cli, "three.jsonl")
    assert (status, said["verdict"]) == (EXIT_CHECK_FAILED, "slower")
    assert {one["other"]["label"] for one in said["cells"]} == {"pr"}
    twins = [one for one in said["controls"] if one["pattern"] == "pingpong"]
    assert {one["other"]["label"] for one in twins} == {"again"}
    assert "2 of one library, measured twice" in cli("compare", "three.jsonl").out
    assert cli(*words, *arms, "-o", "two.jsonl").status == EXIT_DONE
    status, said = compared(cli, "two.jsonl")
    assert (status, said["verdict"], len(said["cells"])) == (EXIT_DONE, "same", 2)


@pytest.mark.thorough
def test_a_variable_is_varied_in_turn(cli: Cli, openmpi: object) -> None:
    """What the job's environment says of it is what the fake kernel does."""
    words = ("run", "pingpong", "memcpy", *WORDS, "--launches", "8", "-o", "r.jsonl")
    assert cli(*words, "--vary", "FAKE_SLOWER=1,1.5").status == EXIT_DONE
    status, said = compared(cli, "r.jsonl")
    assert (status, said["verdict"]) == (EXIT_CHECK_FAILED, "slower")
    assert said["sides"] == "FAKE_SLOWER=1.5 against FAKE_SLOWER=1"
    dry = cli("run", "pingpong", "--vary", "A=1,2", "--vary", "B=x,y", "--dry-run").out
    assert all(f"A={a} B={b}" in dry or f"A={a}" in dry for a in "12" for b in "xy")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--vary", "A"), "varies nothing"),
        (("--vary", "A=1 2"), "varies nothing"),
        (("--vary", "A=1,1"), "values that differ"),
        (("--vary", "A=1,2", "--env", "A=3"), "is set and varied"),
    ],
)
def test_a_variation_that_is_none_is_refused(
    cli: Cli, openmpi: object, words: tuple[str, ...], expected: str
) -> None:
    done = cli("run", "pingpong", *words)
    assert done.status == EXIT_USAGE
    assert expected in done.err
