"""What is said beside an answer: names of files have no codes in them that would speak to the terminal."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Cli

TITLE = "\x1b]0;owned\x07"


@pytest.fixture
def odd(measured: Path, machine: Path) -> str:
    """A result of this name, and a copy of it that is called so, too."""
    name = f"{TITLE}.jsonl"
    for path in (name, f"a{name}"):
        shutil.copy(measured, machine / "work" / path)
    return name


@pytest.mark.usefixtures("openmpi")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("resume", "RESULT"), "is complete"),
        (("history", "."), "skipped: "),
        (("show", "RESULT", "-o", f"{TITLE}.csv"), "csv: ?]0;owned?.csv"),
        (("show", f"{TITLE}.none"), "?]0;owned?.none: there is no such file"),
        (("run", f"{TITLE}"), "owned"),
        pytest.param(("report", "RESULT"), "report: ?]0;owned?-report.html", marks=pytest.mark.thorough),
        (("sbatch", "--nodes", "2", "-o", f"{TITLE}.sh"), ""),
    ],
    ids=lambda words: words[0] if words else "",
)
def test_names_of_files_are_printed_clean(cli: Cli, odd: str, words: tuple[str, ...], said: str) -> None:
    done = cli(*(odd if word == "RESULT" else word for word in words))
    assert said in done.err
    assert not {"\x1b", "\x07"} & {*done.err, *done.out}
