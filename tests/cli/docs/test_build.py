"""The pages as Sphinx builds them: what it warns of is an error."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from PIL import Image

from tests.places import DOCS, ROOT

sys.path.insert(0, str(DOCS))

import screen

if TYPE_CHECKING:
    from pathlib import Path

PICTURES_MOST_BYTES = 150_000


@pytest.mark.thorough
def test_the_documentation_builds_without_a_warning(tmp_path: Path) -> None:
    """As `make docs` does; the schemas are beside the pages."""
    pytest.importorskip("sphinx")
    words = [sys.executable, "-m", "sphinx", "-q", "-W", "-b", "html", str(DOCS), str(tmp_path / "html")]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    built = {path.name for path in (tmp_path / "html").iterdir()}
    assert {"index.html", "report.html", "schema.json", "schema-show.json"} <= built


@pytest.mark.parametrize(
    ("number", "parts"),
    [
        ("1.28 µs (1.10 \N{EN DASH} 1.48)ᵃ", ["1.28 µs", "(1.10 \N{EN DASH} 1.48)ᵃ"]),
        ("0.348 Gbit/s ±3.6 %", ["0.348 Gbit/s", "±3.6 %"]),
        ("1200 in 10", ["1200", "in 10"]),
    ],
)
def test_numbers_in_tables_break_before_their_intervals_only(number: str, parts: list[str]) -> None:
    nodes = pytest.importorskip("docutils.nodes")
    pytest.importorskip("sphinx")
    entry = nodes.entry("", nodes.paragraph("", number), classes=["text-right"])
    page = nodes.document(None, None)
    page += nodes.tbody("", nodes.row("", entry))
    runpy.run_path(str(DOCS / "conf.py"))["keep_numbers_whole"](None, page)
    assert [part.astext() for part in page.findall(nodes.inline)] == parts
    assert page.astext() == number


def test_pictures_of_screens_are_small_and_shown() -> None:
    text = "".join((DOCS / f"{name}.md").read_text(encoding="utf-8") for name in ("report", "answer"))
    for path in (DOCS / "screens").iterdir():
        assert path.stat().st_size < PICTURES_MOST_BYTES
        assert f"](screens/{path.name})" in text


@pytest.mark.thorough
def test_the_picture_of_the_answer_shows_what_is_printed_now() -> None:
    """Each part is in the list below it."""
    with Image.open(screen.PICTURE) as picture:
        assert picture.info[screen.TEXT] == screen.answer(), "python docs/screen.py"
    page = (DOCS / "answer.md").read_text(encoding="utf-8")
    numbers = re.findall(r"^(\d+)\. ", page, re.MULTILINE)
    assert numbers == [str(number + 1) for number in range(len(screen.PARTS))]
