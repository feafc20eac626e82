"""`compare --remeasure` on fake libraries of known speed: new launches in turn, which alone decide."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.errors import EXIT_CHECK_FAILED, EXIT_DONE, EXIT_UNDECIDED, EXIT_USAGE
from mpigauge.result.reader import load
from tests.fakes.mpi import install

if TYPE_CHECKING:
    from tests.conftest import Cli, Install

WORDS = ("run", "pingpong", "memcpy", "--sizes", "8,64,512,4096", "--samples", "40", "--seed", "7", "-q")
FIRST, FRESH = Path("r.jsonl"), Path("again.jsonl")


@pytest.fixture
def libraries(fake_mpi: Install, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """Of two kinds, the second half as fast again."""
    monkeypatch.setenv("FAKE_JITTER", "0.01")
    first, second = fake_mpi("openmpi", latency_ns=10_000), fake_mpi("mpich", "5.0.2", latency_ns=15_000)
    return str(first.mpicc), str(second.mpicc)


def again(cli: Cli, *words: str) -> tuple[int, dict[str, Any]]:
    done = cli("compare", *words, "--remeasure", "-o", str(FRESH), "-q", "--format", "json")
    assert "Traceback" not in done.err
    return done.status, json.loads(done.out)


@pytest.mark.thorough
def test_what_differs_is_measured_again_and_only_that_decides(cli: Cli, libraries: tuple[str, str]) -> None:
    first, second = libraries
    assert (
        cli(*WORDS, "--mpi", first, "--mpi", second, "--launches", "5", "-o", str(FIRST)).status == EXIT_DONE
    )
    before = FIRST.read_bytes()
    status, said = again(cli, str(FIRST))
    assert (status, said["verdict"]) == (EXIT_CHECK_FAILED, "slower")
    assert "measured again: 4 of 4 numbers" in said["sides"]
    assert FIRST.read_bytes() == before
    fresh = load(FRESH)
    assert fresh.campaign.plan.seed != load(FIRST).campaign.plan.seed
    assert {one["launches"] for one in said["cells"]} == {fresh.campaign.plan.launches_max}
    assert {cell.pattern for cell in fresh.campaign.cells} == {"null", "pingpong", "memcpy"}


def slowed(line: str) -> str:
    """A line of a result, of a message with the second setting: as if it had taken longer by a third."""
    record = json.loads(line)
    if record["type"] != "visit" or record["cell"]["setting"] != "PLACEBO=2":
        return line
    if record["cell"]["pattern"] != "pingpong":
        return line
    record["samples_ns"] = [round(1.3 * ns) for ns in record["samples_ns"]]
    return json.dumps(record)


@pytest.mark.thorough
def test_an_accident_of_the_first_stage_is_not_believed(
    cli: Cli, libraries: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One variable has slowed one side then; it does no longer."""
    first, _ = libraries
    words = (*WORDS, "--mpi", first, "--vary", "PLACEBO=1,2", "--launches", "6", "-o", str(FIRST))
    assert cli(*words).status == EXIT_DONE
    lines = FIRST.read_text(encoding="utf-8").splitlines()
    FIRST.write_text("".join(f"{slowed(line)}\n" for line in lines), encoding="utf-8")
    assert cli("compare", str(FIRST)).status == EXIT_CHECK_FAILED
    status, said = again(cli, str(FIRST))
    assert (status, said["verdict"]) == (EXIT_DONE, "same")
    for one in said["cells"]:
        assert one["first_ratio"] == pytest.approx(1.3, rel=0.05)
        assert one["first_low"] < one["first_ratio"] < one["first_high"]
        assert one["ratio"] == pytest.approx(1.0, rel=0.05)
        assert one["first_launches"] == 6 < one["launches"]


@pytest.mark.thorough
def test_the_first_look_stands_beside_the_ratio_that_decides(cli: Cli, libraries: tuple[str, str]) -> None:
    first, second = libraries
    cli(*WORDS, "--mpi", first, "--mpi", second, "--launches", "5", "-o", str(FIRST))
    for number, form in enumerate(("text", "markdown")):
        done = cli("compare", str(FIRST), "--remeasure", "-o", f"{number}.jsonl", "-q", "--format", form)
        assert "the new launches alone decide" in done.out
        (head,) = [line for line in done.out.splitlines() if "first look" in line]
        assert head.index("first look, decides nothing") < head.index("times as long")
        lines = [line for line in done.out.splitlines() if "pingpong" in line and "slower" in line]
        assert len(lines) == 4
        assert all(line.count(" \N{EN DASH} ") == 2 for line in lines)


@pytest.mark.thorough
def test_two_results_of_two_times_are_measured_in_turn(cli: Cli, libraries: tuple[str, str]) -> None:
    for path, library in zip(("before.jsonl", "after.jsonl"), libraries, strict=True):
        assert cli(*WORDS, "--mpi", library, "--launches", "5", "-o", path).status == EXIT_DONE
    assert cli("compare", "before.jsonl", "after.jsonl").status == EXIT_UNDECIDED
    status, said = again(cli, "before.jsonl", "after.jsonl")
    assert (status, said["verdict"], said["interleaved"]) == (EXIT_CHECK_FAILED, "slower", True)
    assert {one["mpi"] for one in said["cells"]} == {"openmpi"}
    assert {round(one["first_ratio"], 1) for one in said["cells"]} == {1.5}


@pytest.mark.thorough
def test_two_builds_of_one_version_get_labels(cli: Cli, fake_mpi: Install, machine: Path) -> None:
    builds = (fake_mpi("mpich", "5.0.2").mpicc, install(machine / "other", "mpich", "5.0.2").mpicc)
    for path, build in zip(("before.jsonl", "after.jsonl"), builds, strict=True):
        assert cli(*WORDS, "--mpi", str(build), "--launches", "5", "-o", path).status == EXIT_DONE
    status, said = again(cli, "before.jsonl", "after.jsonl")
    assert (status, said["verdict"]) == (EXIT_DONE, "same")
    assert {(one["label"], one["other"]["label"]) for one in said["cells"]} == {("base", "other")}
    assert all(one["first_ratio"] is not None for one in said["cells"])


def test_what_cannot_be_measured_in_turn_is_refused(cli: Cli, openmpi: object) -> None:
    for path in ("before.jsonl", "after.jsonl"):
        assert cli(*WORDS, "--launches", "5", "-o", path).status == EXIT_DONE
    for words, said in (
        (("before.jsonl", "after.jsonl", "--remeasure"), "are of one library"),
        (("before.jsonl", "--baseline", ".", "--remeasure"), "exclude each other"),
        (("before.jsonl", "after.jsonl", "-o", "x.jsonl"), "are for --remeasure"),
    ):
        done = cli("compare", *words)
        assert (done.status, said in done.err) == (EXIT_USAGE, True), done.err


@pytest.mark.thorough
def test_a_strangers_result_runs_nothing_unasked(cli: Cli, libraries: tuple[str, str]) -> None:
    first, second = libraries
    cli(*WORDS, "--mpi", first, "--mpi", second, "--launches", "5", "-o", str(FIRST))
    head, _, rest = FIRST.read_text(encoding="utf-8").partition("\n")
    FIRST.write_text(head.replace('"seed":7', '"seed":8') + "\n" + rest, encoding="utf-8")
    done = cli("compare", str(FIRST), "--remeasure", "-o", str(FRESH))
    assert (done.status, FRESH.exists()) == (EXIT_USAGE, False)
    words = shlex.split(done.err.rpartition("mpigauge ")[2])
    assert words[:4] == ["compare", "--remeasure", "--trust", "--digest"]
    assert cli(*words, "-o", str(FRESH), "-q").status == EXIT_CHECK_FAILED
