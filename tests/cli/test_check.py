"""`mpigauge check`, on a fake library of known speed: what holds, what fails, and what nobody can tell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from mpigauge.errors import EXIT_CHECK_FAILED, EXIT_DONE, EXIT_UNDECIDED, EXIT_USAGE

if TYPE_CHECKING:
    from tests.conftest import Cli, Install

WORDS = ("--sizes", "8,1KiB", "--samples", "40", "--seed", "7", "-q")


@pytest.fixture
def result(cli: Cli, fake_mpi: Install, monkeypatch: pytest.MonkeyPatch) -> str:
    """Messages of a library whose latency is 10 us."""
    monkeypatch.setenv("FAKE_JITTER", "0.01")
    library = fake_mpi("openmpi", latency_ns=10_000)
    words = ("run", "pingpong", "barrier", "--mpi", str(library.mpicc), *WORDS, "--launches", "6")
    done = cli(*words, "-o", "r.jsonl")
    assert done.status == EXIT_DONE, done.err
    return "r.jsonl"


def held(cli: Cli, *words: str) -> tuple[int, dict[str, Any]]:
    done = cli("check", *words, "--format", "json")
    assert done.err == ""
    return done.status, json.loads(done.out)


def expect(*sentences: str) -> list[str]:
    return [word for sentence in sentences for word in ("--expect", sentence)]


@pytest.mark.parametrize(
    ("sentence", "status", "verdict"),
    [
        ("pingpong 8B latency < 20us", EXIT_DONE, "holds"),
        ("pingpong 8B latency < 5us", EXIT_CHECK_FAILED, "fails"),
        ("pingpong 8B p95 latency < 20us", EXIT_DONE, "holds"),
        ("pingpong openmpi standard 8:1KiB time > 5us", EXIT_DONE, "holds"),
        ("pingpong Open MPI standard 8:1KiB time > 5us", EXIT_DONE, "holds"),
        ("pingpong 1KiB bandwidth > 90% of 1Gbit/s", EXIT_CHECK_FAILED, "fails"),
        ("pingpong 64KiB latency < 1s", EXIT_UNDECIDED, "undecided"),
        ("pingpong mpich latency < 1s", EXIT_UNDECIDED, "undecided"),
        ("alltoall 8B time < 1s", EXIT_UNDECIDED, "undecided"),
        ("barrier bandwidth > 1MB/s", EXIT_UNDECIDED, "undecided"),
    ],
)
def test_one_expectation(cli: Cli, result: str, sentence: str, status: int, verdict: str) -> None:
    found, said = held(cli, result, *expect(sentence))
    assert (found, said["verdict"]) == (status, verdict)
    assert {one["verdict"] for one in said["expectations"]} == {verdict}


def test_the_worst_decides_and_comes_first(cli: Cli, result: str) -> None:
    sentences = ("pingpong 8B latency < 20us", "alltoall time < 1s", "pingpong 8B latency < 5us")
    done = cli("check", result, *expect(*sentences))
    assert done.status == EXIT_CHECK_FAILED
    head, _, _, *rows = done.out.splitlines()
    assert head == "fails: 1; undecided: 1; holds: 1, of 3 numbers"
    assert [row.split()[-1] for row in rows[:3]] == ["fails", "measured", "holds"]
    assert cli("check", result, *expect(*sentences[:2])).status == EXIT_UNDECIDED


def test_every_number_of_a_range_must_hold(cli: Cli, result: str) -> None:
    status, said = held(cli, result, *expect("pingpong 8:1KiB latency < 20us"))
    assert (status, [one["bytes"] for one in said["expectations"]]) == (EXIT_DONE, [8, 1024])
    for one in said["expectations"]:
        assert one["low"] <= one["value"] <= one["high"] < one["bound"]


def test_one_launch_has_no_interval_and_decides_nothing(cli: Cli, openmpi: object) -> None:
    cli("run", "pingpong", *WORDS, "--launches", "1", "-o", "one.jsonl")
    done = cli("check", "one.jsonl", *expect("pingpong 8B latency < 1s"))
    assert done.status == EXIT_UNDECIDED
    assert "1 launch, no interval" in done.out


@pytest.mark.thorough
def test_a_cell_that_crashed_does_not_hold(
    cli: Cli, openmpi: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_CRASH", "pingpong:1024")
    cli("run", "pingpong", *WORDS, "--launches", "5", "-o", "r.jsonl")
    status, said = held(cli, "r.jsonl", *expect("pingpong latency < 1h"))
    assert status == EXIT_UNDECIDED
    assert {one["bytes"]: one["said"] for one in said["expectations"]} == {8: "holds", 1024: "failed"}


def test_a_file_of_expectations_and_junit(cli: Cli, result: str) -> None:
    Path("expect.toml").write_text(
        '[expect]\n"small messages" = "pingpong 8B latency < 20us"\nfast = "pingpong 8B latency < 5us"\n'
    )
    done = cli("check", result, "--expect-file", "expect.toml", "--format", "junit")
    assert done.status == EXIT_CHECK_FAILED
    suite = ET.fromstring(done.out)  # noqa: S314 - our own
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert "small messages" in cli("check", result, "--expect-file", "expect.toml").out


def test_what_cannot_be_checked_is_refused(cli: Cli, result: str) -> None:
    for words, said in (
        ((), "nothing to check"),
        ((*expect("pingpong time < 1s"), "--guidelines"), "are 2 questions"),
        (expect("pingpong"), "is not an expectation"),
        (("--expect-file", "none.toml"), "none.toml: cannot be read"),
    ):
        done = cli("check", result, *words)
        assert (done.status, said in done.err) == (EXIT_USAGE, True), done.err
