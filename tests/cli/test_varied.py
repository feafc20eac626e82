"""Settings that are varied in turn: compared by one variable of several, and named if they change nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from mpigauge.errors import EXIT_CHECK_FAILED, EXIT_DONE, EXIT_USAGE

if TYPE_CHECKING:
    from tests.conftest import Cli, Install

NOTHING = "changed nothing measurable"


@pytest.fixture
def measured(cli: Cli, fake_mpi: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that knows the first of two variables, in all four settings."""
    monkeypatch.setenv("FAKE_JITTER", "0.01")
    fake_mpi("openmpi", latency_ns=10_000)
    vary = ("--vary", "FAKE_SLOWER=1,1.5", "--vary", "FAKE_NOTHING=a,b")
    words = ("--sizes", "8,1KiB", "--samples", "40", "--seed", "7", "-q", "--launches", "8")
    assert cli("run", "pingpong", *vary, *words, "-o", "r.jsonl").status == EXIT_DONE


@pytest.mark.thorough
@pytest.mark.usefixtures("measured")
@pytest.mark.parametrize(
    ("name", "status", "slower"), [("FAKE_SLOWER", EXIT_CHECK_FAILED, 4), ("FAKE_NOTHING", EXIT_DONE, 0)]
)
def test_one_of_several_variables_is_compared(cli: Cli, name: str, status: int, slower: int) -> None:
    """All others are alike in each pair, so that what differs is of this one."""
    done = cli("compare", "r.jsonl", "--by", name, "--format", "json")
    assert done.status == status
    said = json.loads(done.out)
    assert len(said["cells"]) == 4
    assert sum(one["verdict"] == "slower" for one in said["cells"]) == slower
    for one in said["cells"]:
        pairs = zip(one["setting"].split(), one["other"]["setting"].split(), strict=True)
        assert [base.partition("=")[0] for base, other in pairs if base != other] == [name]


@pytest.mark.thorough
@pytest.mark.usefixtures("measured")
def test_a_setting_that_changed_nothing_is_said(cli: Cli) -> None:
    out = cli("compare", "r.jsonl", "--by", "FAKE_NOTHING").out
    assert f"FAKE_NOTHING=b {NOTHING}: all 4 numbers are within 3.0 % of FAKE_NOTHING=a" in out
    assert out.count(NOTHING) == 1
    said = json.loads(cli("compare", "r.jsonl", "--by", "FAKE_NOTHING", "--format", "json").out)
    assert said["without_effect"] == [{"base": "FAKE_NOTHING=a", "other": "FAKE_NOTHING=b", "numbers": 4}]
    out = cli("compare", "r.jsonl", "--by", "FAKE_SLOWER").out
    assert NOTHING not in out
    out = cli("compare", "r.jsonl", "--by", "setting").out
    assert out.count(NOTHING) == 1, "of three others one"
    assert f"FAKE_NOTHING=b {NOTHING}" in out


@pytest.mark.parametrize("launches", ["1", "2"])
def test_a_setting_that_perhaps_changes_nothing_is_said_where_launches_are_too_few_to_decide(
    cli: Cli, fake_mpi: Install, monkeypatch: pytest.MonkeyPatch, launches: str
) -> None:
    """As a variable of a layer below that the library does not use."""
    monkeypatch.setenv("FAKE_JITTER", "0.001")
    fake_mpi("openmpi", latency_ns=10_000)
    vary = ("--vary", "FAKE_SLOWER=1,1.5", "--vary", "FAKE_NOTHING=a,b")
    words = ("--sizes", "8,1KiB", "--samples", "40", "--seed", "7", "-q", "--launches", launches)
    cli("run", "pingpong", *vary, *words, "-o", "r.jsonl")
    out = cli("compare", "r.jsonl", "--by", "FAKE_NOTHING").out
    assert "too few launches" in out
    assert "perhaps FAKE_NOTHING=b changes nothing: all 4 numbers are within 3.0 % of FAKE_NOTHING=a" in out
    assert "changes nothing" not in cli("compare", "r.jsonl", "--by", "FAKE_SLOWER").out


@pytest.mark.usefixtures("measured")
def test_what_is_neither_factor_nor_variable_is_refused(cli: Cli) -> None:
    for verb in (("compare", "r.jsonl"), ("plot", "r.jsonl", "--kind", "compare", "-o", "f.png")):
        done = cli(*verb, "--by", "FAKE_OTHER")
        assert done.status == EXIT_USAGE
        assert "--by FAKE_OTHER: it is no factor, and no variable that was varied" in done.err
        assert "FAKE_SLOWER, FAKE_NOTHING" in done.err
