"""The notebook runs, and shows what it keeps; test_commands.py runs the blocks of docs/python.md."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.places import DOCS, EXAMPLES, ROOT

NOTEBOOK = EXAMPLES / "notebook.ipynb"


@pytest.mark.thorough
def test_the_notebook_shows_what_it_keeps() -> None:
    """In a process of its own, at the top of the source tree, as its first lines say."""
    done = subprocess.run(
        [sys.executable, str(DOCS / "notebook.py"), "--check"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    kept, now = (json.loads(text)["cells"] for text in (NOTEBOOK.read_text(encoding="utf-8"), done.stdout))
    assert sum(cell["cell_type"] == "code" for cell in kept) >= 7
    for before, after in zip(kept, now, strict=True):
        assert after == before
        assert before["cell_type"] != "code" or before["outputs"], "every cell shows something"


def test_a_notebook_is_one_of_version_4() -> None:
    nbformat = pytest.importorskip("nbformat")
    nbformat.validate(nbformat.read(NOTEBOOK, as_version=4))
