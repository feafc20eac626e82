"""The maintainer's list of all sentences has those of help, errors and words, and no docstrings."""

import subprocess
import sys

import pytest

from tests.places import ROOT


def printed(*parts: str) -> str:
    """What docs/sentences.py prints."""
    words = [sys.executable, str(ROOT / "docs" / "sentences.py"), *parts]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


@pytest.mark.thorough
def test_help_errors_and_hints_are_listed_by_module() -> None:
    text = printed()
    for sentence in (
        "== mpigauge run",
        "--seed: Seed of the randomisation.",
        "== plan/plan_file.py",
        "{where}: there is nothing to measure",
        "name a pattern, or add a [[measure]] table",
        "== show/words/",
    ):
        assert sentence in text
    assert "A plan file with the options of the command line laid over it" not in text


def test_parts_limit_it() -> None:
    headings = [line for line in printed("plan/hosts", "cli").splitlines() if line.startswith("== ")]
    assert "== plan/hosts.py" in headings
    assert all(heading.startswith(("== plan/hosts", "== cli/")) for heading in headings)
