"""A size that cannot be is left out with its reason, and everything else is measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.errors import EXIT_DONE, EXIT_USAGE
from mpigauge.result.reader import load

if TYPE_CHECKING:
    from tests.conftest import Cli
    from tests.fakes.mpi import FakeMpi

LARGE = 3 * 2**30
WORDS = ("run", "pingpong", "--sizes", "8,3GiB", "--launches", "1", "-o", "r.jsonl")
LINE = "left out: 1 of 2 cells, e.g. pingpong 3 GiB: needs MPI 4"
REASON = "messages of 3 GiB need the large counts of MPI 4, which this MPI library lacks"


def test_the_rest_is_measured_and_all_that_tells_of_a_result_tells_what_was_left_out(
    cli: Cli, openmpi: FakeMpi
) -> None:
    done = cli(*WORDS)
    assert done.status == EXIT_DONE, done.err
    assert done.err.count(f"{LINE}: {REASON}") == 1
    (one,) = load(Path("r.jsonl")).campaign.left_out
    assert (one.cell.bytes, one.kind, one.reason) == (LARGE, "library", REASON)
    for words in ((), ("--all",)):
        assert LINE in cli("show", "r.jsonl", *words).out
    whole = json.loads(cli("show", "r.jsonl", "--format", "json").out)
    assert [(found["cell"]["bytes"], found["kind"]) for found in whole["left_out"]] == [(LARGE, "library")]
    assert LARGE not in {row["bytes"] for row in whole["rows"]}
    assert cli("report", "r.jsonl", "-o", "r.html").status == EXIT_DONE
    assert LINE in Path("r.html").read_text(encoding="utf-8")


def test_a_dry_run_says_it_before(cli: Cli, openmpi: FakeMpi) -> None:
    done = cli(*WORDS, "--dry-run")
    assert done.status == EXIT_DONE
    assert f"! {LINE}: {REASON}" in done.out


@pytest.mark.parametrize(
    "words",
    [
        ("pingpong", "--sizes", "3GiB"),
        ("alltoallv", "--sizes", "1GiB", "--np", "3"),
        ("pingpong", "--sizes", "8,16", "--buffers", "cold"),
    ],
)
def test_what_was_asked_for_alone_is_refused(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setattr("mpigauge.result.environment.memory_available_bytes", lambda: 2**20)
    done = cli("run", *words)
    assert done.status == EXIT_USAGE
    assert "hint: use " in done.err


def test_groups_at_once_do_not_fit_the_memory_together(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mpigauge.result.environment.memory_available_bytes", lambda: 2**25)
    words = ("--np", "8", "--groups", "0,1+2-7", "--sizes", "8,2MiB", "--launches", "1", "-o", "r.jsonl")
    done = cli("run", "allgather", *words)
    assert done.status == EXIT_DONE, done.err
    result = load(Path("r.jsonl"))
    large = {(visit.cell.groups, visit.cell.group) for visit in result.visits if visit.cell.bytes > 8}
    assert large == {("", "0,1")}
    assert {one.cell.group for one in result.campaign.left_out if one.cell.groups} == {"0,1", "2-7"}


def test_what_does_not_fit_the_memory_is_left_out(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mpigauge.result.environment.memory_available_bytes", lambda: 2**24)
    done = cli(
        "run", "pingpong", "allgather", "--np", "4", "--sizes", "8,2MiB", "--launches", "1", "-o", "r.jsonl"
    )
    assert done.status == EXIT_DONE, done.err
    gone = load(Path("r.jsonl")).campaign.left_out
    assert [(one.cell.pattern, one.cell.bytes, one.kind) for one in gone] == [("allgather", 2**21, "memory")]
    assert "allgather blocking of 2 MiB needs 40.0 MiB of buffers, but only 16.0 MiB" in gone[0].reason


def test_a_plan_that_is_handed_out_knows_nothing_of_this_machine(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither its cores nor its memory; what no machine can do is left out and told beside the plan."""
    monkeypatch.setattr("mpigauge.result.environment.memory_available_bytes", lambda: 2**20)
    words = ("allreduce", "alltoallv", "--sizes", "1MiB", "--np", "10000")
    done = cli("kernel", "plan", *words)
    assert done.status == EXIT_DONE, done.err
    assert " ranks=10000 " in done.out.partition("\n")[0]
    assert "pattern=allreduce" in done.out.partition("\nend\n")[0]
    assert "alltoallv" not in done.out.partition("\nend\n")[0]
    assert "left out: 1 of 2 cells, e.g. alltoallv 1 MiB: beyond int counts" in done.err


@pytest.mark.parametrize("pattern", ["fetch_and_op", "compare_and_swap", "contended"])
def test_only_sizes_that_are_named_are_beyond_an_operand(cli: Cli, openmpi: FakeMpi, pattern: str) -> None:
    usual = cli("run", pattern, "--dry-run").out
    assert "left out" not in usual
    assert "4 B, 8 B" in usual
    assert "left out: 1 of 2 cells" in cli("run", pattern, "--sizes", "8,64", "--dry-run").out
