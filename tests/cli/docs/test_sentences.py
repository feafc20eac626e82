"""The maintainer's list of all sentences has those of help, errors and words, and no docstrings."""

import subprocess
import sys

from tests.places import ROOT


def test_help_errors_and_hints_are_listed_by_module() -> None:
    words = [sys.executable, str(ROOT / "docs" / "sentences.py")]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    for sentence in (
        "== mpigauge run",
        "--seed: Seed of the randomisation.",
        "== plan/plan_file.py",
        "{where}: there is nothing to measure",
        "name a pattern, or add a [[measure]] table",
    ):
        assert sentence in text
    assert "A plan file with the options of the command line laid over it" not in text
