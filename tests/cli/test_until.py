"""`run --until decided` on fake libraries of known speed: the first planned look with a verdict ends it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.errors import EXIT_CHECK_FAILED, EXIT_DONE, EXIT_UNDECIDED, EXIT_USAGE
from mpigauge.result.reader import load

if TYPE_CHECKING:
    from tests.conftest import Cli

WORDS = ("run", "pingpong", "memcpy", "--sizes", "8,1KiB", "--samples", "40", "--seed", "7", "-q")
LAUNCHES = 20


def decided(cli: Cli, *words: str) -> tuple[int, str]:
    """How many launches it took, and why it stopped."""
    done = cli(*WORDS, "--until", "decided", "--launches", str(LAUNCHES), "-o", "r.jsonl", *words)
    assert done.status == EXIT_DONE, done.err
    return made()


def made() -> tuple[int, str]:
    """Launches of the result, and why it stopped."""
    result = load(Path("r.jsonl"))
    return max(one.launch for one in result.done), result.ends[-1].reason


@pytest.mark.thorough
@pytest.mark.parametrize(("factor", "status"), [("1.5", EXIT_CHECK_FAILED), ("1.001", EXIT_DONE)])
def test_a_clear_case_takes_few_launches(
    cli: Cli, openmpi: object, monkeypatch: pytest.MonkeyPatch, factor: str, status: int
) -> None:
    monkeypatch.setenv("FAKE_JITTER", "0.01")
    launches, reason = decided(cli, "--vary", f"FAKE_SLOWER=1,{factor}")
    assert reason == "decided"
    assert 6 <= launches < LAUNCHES
    assert cli("compare", "r.jsonl").status == status
    assert "the comparison is decided" in cli("show", "--all", "r.jsonl").out
    assert " s, until it was decided" in cli("show", "r.jsonl").out


@pytest.mark.thorough
def test_what_nobody_can_tell_goes_on_to_the_end(
    cli: Cli, openmpi: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_SPREAD", "0.6")
    assert decided(cli, "--vary", "FAKE_SLOWER=1,1.05") == (LAUNCHES, "launches")
    assert cli("compare", "r.jsonl").status == EXIT_UNDECIDED


@pytest.mark.thorough
def test_it_goes_on_as_it_was(cli: Cli, openmpi: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_JITTER", "0.01")
    whole = decided(cli, "--vary", "FAKE_SLOWER=1,1.5")
    lines = Path("r.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    Path("r.jsonl").write_text("".join(lines[: len(lines) // 2]), encoding="utf-8")
    assert cli("resume", "r.jsonl", "-q").status == EXIT_DONE
    assert made() == whole


def test_there_must_be_something_to_compare(cli: Cli, openmpi: object) -> None:
    done = cli(*WORDS, "--until", "decided")
    assert done.status == EXIT_USAGE
    assert "nothing is measured in turn" in done.err
