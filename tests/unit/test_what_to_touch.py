"""What CONTRIBUTING.md says belongs to an addition is enough: tried in a copy of the program."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mpigauge
from tests.made import campaign, cell, launches_of, lines_of, measured

pytestmark = pytest.mark.thorough

FACTOR = '    Factor("colour", "how", usual="", compared=True, phrase="{} paint"),\n'
FORMAT = '''"""Captions, loudly."""

from mpigauge.document.document import Document


def render(document: Document) -> str:
    """Return the title of every table in capitals."""
    return "".join(f"{table.title.upper()}!\\n" for table in document.tables)
'''
FIGURE_ROW = '        DisplayKind("dots", "a dot per number", "cells of any size", "dots"),\n'
FIGURE = '''"""A dot per number."""

from matplotlib.figure import Figure

from mpigauge.query.kinds import maker
from mpigauge.query.query import Query
from mpigauge.show.figures import MAKERS, style


@maker(MAKERS, "dots")
def dots(query: Query) -> Figure:
    """Return a figure of dots."""
    whole = style.paper(3.0)
    times_s = [row.time.estimate for source in query.sources for row in source.rows if row.time]
    whole.subplots().plot(times_s, "o", gid="dots")
    return whole
'''
LAUNCHER = """

@launcher("slingshot", "shoots ranks from the hip")
def _slingshot(job: Job) -> Command:
    return _command(["slingshot", str(job.ranks)], job)
"""
TABLE_ROW = '        _kind("fastest", "the fastest of all", "messages or collectives"),\n'
TABLE = '''

@maker(MAKERS, "fastest")
def fastest(query: Query) -> list[PivotGrid]:
    """Return what the table of times has."""
    return times(query)
'''


def insert(path: Path, before: str, text: str) -> None:
    """Add a line of a list, or a field."""
    source = path.read_text(encoding="utf-8")
    assert source.count(before) == 1, before
    path.write_text(source.replace(before, text + before), encoding="utf-8")


def append(path: Path, text: str) -> None:
    """Add to the end of a file, or write a new one."""
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the program and one more of each: a factor, format, figure, launcher and table."""
    folder = tmp_path_factory.mktemp("copy")
    there = folder / "mpigauge"
    shutil.copytree(Path(mpigauge.__file__).parent, there, ignore=shutil.ignore_patterns("__pycache__"))
    insert(there / "plan/factors.py", ')\n"""In the order in which a plan is expanded', FACTOR)
    insert(there / "plan/model.py", "\n    @property\n    def library", '    colour: Identifier = ""\n')
    insert(there / "show/formats/__init__.py", ')\n"""Of any document."""', ', "shout"')
    append(there / "show/formats/shout.py", FORMAT)
    insert(there / "show/figures/__init__.py", "    )\n}\n\nALIASES", FIGURE_ROW)
    append(there / "show/figures/dots.py", FIGURE)
    append(there / "campaign/launch/launchers.py", LAUNCHER)
    insert(there / "show/pivots/__init__.py", '    )\n}\n"""`answer`, `curves`', TABLE_ROW)
    append(there / "show/pivots/kinds.py", TABLE)
    (folder / "result.jsonl").write_bytes(result())
    return folder


def result() -> bytes:
    """Return a result of two cells that differ in their colour alone; the red one takes twice as long."""
    plain, numbers = cell(size=8), range(1, 8)
    text = lines_of(
        campaign(plain),
        *launches_of([plain], numbers),
        *measured([plain], numbers, lambda _, number: [1000 + number] * 30),
    )
    lines = []
    for line in map(json.loads, text.splitlines()):
        lines.append(line)
        if line["type"] == "campaign":
            line["cells"].append(line["cells"][0] | {"colour": "red"})
        if line["type"] == "visit":
            slow = [2 * sample for sample in line["samples_ns"]]
            red = {"id": line["id"] + 1, "cell": line["cell"] | {"colour": "red"}, "samples_ns": slow}
            lines.append(line | red)
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def said(copy: Path, *words: str, status: int = 0) -> str:
    """Return what the copy says to these words."""
    environ = {**os.environ, "PYTHONPATH": str(copy), "COLUMNS": "120", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "mpigauge", *words],
        cwd=copy,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stderr
    return done.stdout


def test_a_factor_is_a_row_and_a_field(copy: Path) -> None:
    rows = json.loads(said(copy, "show", "result.jsonl", "--format", "json", "--table", "curves"))["rows"]
    assert [(row["colour"], row["launches"]) for row in rows] == [("", 7), ("red", 7)]
    assert "red paint" in said(copy, "show", "result.jsonl", "--table", "curves")
    head, _, *others = said(copy, "show", "result.jsonl", "--format", "csv").splitlines()
    assert "colour" in head.split(",")
    assert any(",red," in line for line in others)
    compared = said(copy, "compare", "result.jsonl", "--by", "colour", status=1)
    assert "red paint" in compared


def test_a_format_is_a_module_and_a_word(copy: Path) -> None:
    assert "Captions, loudly." in said(copy, "list", "formats")
    assert "PINGPONG" in said(copy, "show", "result.jsonl", "--table", "curves", "--format", "shout")


def test_a_figure_is_a_module_and_a_row(copy: Path) -> None:
    assert "a dot per number" in said(copy, "list", "plots")
    said(copy, "plot", "result.jsonl", "--kind", "dots", "-o", "dots.svg")
    assert 'id="dots"' in (copy / "dots.svg").read_text(encoding="utf-8")


def test_a_table_is_a_function_and_a_row(copy: Path) -> None:
    assert "the fastest of all" in said(copy, "list", "tables")
    assert "red paint" in said(copy, "show", "result.jsonl", "--table", "fastest")


def test_a_launcher_is_a_function(copy: Path) -> None:
    assert "shoots ranks from the hip" in said(copy, "list", "launchers")
