"""One-sided operations as a new user meets them: the suite, what it says first, and its figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.places import DOCS

if TYPE_CHECKING:
    from tests.conftest import Cli
    from tests.fakes.mpi import FakeMpi

RUN = ("run", "--suite", "one-sided", "--launches", "5", "--seed", "7", "-q", "-o", "r.jsonl")


@pytest.mark.thorough
def test_the_suite_says_first_when_the_target_sees_a_put_and_then_whether_it_is_needed(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the law a put is seen after one and a half messages; into our memory it needs the target."""
    monkeypatch.setenv("FAKE_JITTER", "0.01")
    done = cli(*RUN)
    assert done.status == 0, done.err
    said = cli("explain", "r.jsonl", "--all").out
    first = next(line for line in said.splitlines() if "(5 launches)" in line)
    assert first.startswith("put-notify flag, window allocate, 8 B: seen by the target after ")
    assert " 1.5" in first
    assert " as long as a message, launch by launch" in first
    kinds = "MPI_Win_create and MPI_Win_create_dynamic"
    assert f"in windows of {kinds} put, get and fetch_and_op wait until the target enters MPI" in said
    own = "in a window of MPI_Win_allocate put, get and fetch_and_op complete while the target computes"
    assert own in said


@pytest.mark.parametrize("name", ["one-sided", "libraries", "wan-collectives"])
def test_without_a_kind_there_is_a_figure_of_every_result(cli: Cli, name: str) -> None:
    """Where an overview has too many series, of what was measured."""
    done = cli("plot", DOCS / "results" / f"{name}.jsonl.gz", "-o", "f.svg")
    assert (done.status, "figure: f.svg" in done.err) == (0, True), done.err


def test_a_line_of_several_sizes_says_whose_its_numbers_are(cli: Cli) -> None:
    words = ("compare", DOCS / "results" / "one-sided.jsonl.gz", "--by", "rma_window")
    said = "of several sizes: geometric means, each with its own interval"
    assert said in cli(*words).out
    assert said not in cli(*words, "--all").out


def test_windows_are_one_of_four_kinds_and_of_one_sided_operations(cli: Cli, openmpi: FakeMpi) -> None:
    wrong = cli("run", "put", "--rma-window", "made", "--dry-run")
    assert (wrong.status, "choose from allocate, create, dynamic, shared" in wrong.err) == (2, True)
    useless = cli("run", "pingpong", "--rma-window", "create", "--dry-run")
    assert (useless.status, "--rma-window: no pattern that is measured has it" in useless.err) == (2, True)
    every = cli("run", "put", "--rma-window", "all", "--sizes", "8", "--dry-run")
    assert sum(line.startswith("    put ") for line in every.out.splitlines()) == 4
    pairs = cli("kernel", "plan", "put", "--sizes", "8", "--np", "3")
    assert "rma_window=allocate" in pairs.out
