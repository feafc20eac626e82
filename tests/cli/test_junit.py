"""Names of test cases: a CI system that follows them finds each number again, whatever is said of it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

if TYPE_CHECKING:
    from tests.conftest import Cli, Install

WORDS = ("--sizes", "8,1KiB", "--samples", "40", "--seed", "7", "-q", "--launches", "8")
PINGPONG = [f"pingpong standard {size}" for size in ("8 B", "1 KiB")]


def cases(cli: Cli, *words: str) -> dict[str, str]:
    """What each test case is: well, failure or skipped. No two of a class have one name."""
    suite = ET.fromstring(cli(*words, "--format", "junit").out)  # noqa: S314 - our own
    found = [one for one in suite if one.tag == "testcase"]
    named = {f"{one.get('classname')}/{one.get('name')}": one[0].tag for one in found}
    assert len(named) == len(found) > 0
    return {name.removeprefix("mpigauge/"): tag.replace("system-out", "well") for name, tag in named.items()}


@pytest.fixture
def two(cli: Cli, fake_mpi: Install, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Results of a library, the second with another version, which is slower."""
    monkeypatch.setenv("FAKE_JITTER", "0.01")
    for name, version, latency_ns in (("fast.jsonl", "5.0.2", 10_000), ("slow.jsonl", "5.0.3", 30_000)):
        library = fake_mpi("mpich", version, latency_ns=latency_ns)
        done = cli("run", "pingpong", "barrier", "--mpi", str(library.mpicc), *WORDS, "-o", name)
        assert done.status == 0, done.err
    return ["fast.jsonl", "slow.jsonl"]


def test_a_case_of_a_table_is_its_cell_and_not_what_is_noted(cli: Cli, two: list[str]) -> None:
    expected = {*(f"{name} mpich 2 ranks" for name in PINGPONG), "barrier blocking mpich 2 ranks"}
    for path in two:
        assert cases(cli, "show", path, "--all").keys() == expected
        assert cases(cli, "history", path, "--all").keys() >= expected


def test_a_number_without_doubts_is_well(cli: Cli, two: list[str]) -> None:
    """An empty column is no doubt."""
    assert "well" in cases(cli, "show", two[0], "--all").values()


def test_a_case_of_the_answer_is_what_it_quotes(cli: Cli, two: list[str]) -> None:
    assert cases(cli, "show", two[0]).keys() == cases(cli, "show", two[1]).keys() >= {"barrier"}


def test_an_expectation_has_one_name_whether_it_holds_or_not(cli: Cli, two: list[str]) -> None:
    words = ("--expect", "pingpong latency < 20us", "--expect", "pingpong p99 time < 20us")
    fast, slow = (cases(cli, "check", path, *words) for path in two)
    assert fast.keys() == slow.keys()
    names = [f"{name} mpich 2 ranks" for name in PINGPONG]
    assert fast.keys() == {f"{name} {what}" for name in names for what in ("latency", "p99 time")}
    assert (fast[f"{names[0]} latency"], slow[f"{names[0]} latency"]) == ("well", "failure")


@pytest.mark.parametrize("factor", [1, 3])
def test_a_comparison_has_a_case_per_number_by_one_name(
    cli: Cli, fake_mpi: Install, monkeypatch: pytest.MonkeyPatch, factor: int
) -> None:
    """Sizes that are slower together are a line of the text, but not a case: tomorrow they are others."""
    monkeypatch.setenv("FAKE_JITTER", "0.01")
    libraries = fake_mpi("openmpi", latency_ns=10_000), fake_mpi("mpich", "5.0.2", latency_ns=10_000 * factor)
    both = [word for one in libraries for word in ("--mpi", str(one.mpicc))]
    assert cli("run", "pingpong", *both, *WORDS, "-o", "both.jsonl").status == 0
    kind = "well" if factor == 1 else "failure"
    assert cases(cli, "compare", "both.jsonl", "--all") == {f"{name} 2 ranks": kind for name in PINGPONG}


def test_the_doctor_has_a_case_per_finding(cli: Cli) -> None:
    found = cases(cli, "doctor")
    assert not any("->" in name or "ok " in name for name in found)
    assert "this machine/cores" in found
