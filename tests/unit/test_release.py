"""What a release says of itself: one version everywhere, dates where there are any, a whole citation."""

from __future__ import annotations

import datetime as dt
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from mpigauge import __version__
from tests.places import DOCS, EXAMPLES, ROOT

yaml = pytest.importorskip("yaml")

HEADING = re.compile(r"^## (\d+\.\d+\.\d+) \((\d{4}-\d\d-\d\d|unreleased)\)$")
FILES = re.compile(r"\bmpigauge-(\d+\.\d+\.\d+)(?=-py3|\.tar|-foss)")
"""The version in the name of a wheel, an archive or an easyconfig."""

FROM_INDEX = re.compile(r"\b(?:pipx?|uv|uv tool) install (?:-\S+ )*['\"]?mpigauge\b|\buvx mpigauge\b")
"""A line that takes mpigauge by name from an index of packages."""

NEEDED = {"cff-version", "message", "type", "title", "abstract", "authors", "version", "license", "keywords"}
"""What services that give out DOIs take from a citation file."""


def citation() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    return found


def versions(text: str) -> list[tuple[tuple[int, ...], str]]:
    """The versions of a changelog with their dates; fails at a heading of another form."""
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    found = [HEADING.match(line) for line in headings]
    assert all(found), headings
    return [(tuple(map(int, one[1].split("."))), one[2]) for one in found if one]


def check(listed: list[tuple[tuple[int, ...], str]]) -> None:
    """The newest first, with its number once; only the newest may be without a date."""
    numbers = [number for number, _ in listed]
    assert numbers == sorted(set(numbers), reverse=True)
    dates = [dt.date.fromisoformat(date) for _, date in listed if date != "unreleased"]
    assert dates == sorted(dates, reverse=True)
    assert "unreleased" not in [date for _, date in listed[1:]]


CHANGELOG = versions((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))


def test_the_changelog_has_versions_with_dates() -> None:
    check(CHANGELOG)
    assert ".".join(map(str, CHANGELOG[0][0])) == __version__


@pytest.mark.parametrize(
    "text",
    [
        "## 0.1.0",
        "## 0.1 (unreleased)",
        "## 0.1.0 (2026-01-01)\n## 0.2.0 (2026-02-01)",
        "## 0.2.0 (2026-02-01)\n## 0.1.0 (unreleased)",
        "## 0.2.0 (2026-01-01)\n## 0.1.0 (2026-02-01)",
    ],
)
def test_another_form_is_found(text: str) -> None:
    with pytest.raises(AssertionError):
        check(versions(text))


def test_the_citation_is_whole_and_of_this_version() -> None:
    found = citation()
    assert found.keys() >= NEEDED
    assert all(found[key] for key in NEEDED)
    assert found["version"] == __version__
    assert all(one.get("name") or one.get("family-names") for one in found["authors"])


def test_the_citation_has_the_date_of_the_changelog() -> None:
    date = CHANGELOG[0][1]
    assert str(citation().get("date-released", "unreleased")) == date


def test_files_that_pages_and_recipes_name_are_of_this_version() -> None:
    recipes = (path for path in (EXAMPLES / "integrations").rglob("*") if path.suffix != ".pyc")
    pages = [ROOT / "README.md", *DOCS.glob("*.md"), *filter(Path.is_file, recipes)]
    named = {str(path): set(FILES.findall(path.read_text(encoding="utf-8"))) for path in pages}
    assert named[str(DOCS / "install.md")]
    assert {path: found for path, found in named.items() if found - {__version__}} == {}


def test_nobody_is_sent_to_an_index_that_lacks_mpigauge() -> None:
    """There, somebody else may take the name. Once it is published, this test goes."""
    texts = [ROOT / "README.md", *DOCS.glob("*.md"), *(ROOT / "src").rglob("*.py")]
    assert [str(path) for path in texts if FROM_INDEX.search(path.read_text(encoding="utf-8"))] == []


@pytest.mark.needs("git")
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not in a repository")
def test_a_tag_of_this_commit_is_its_version() -> None:
    words = [
        "git",
        "-c",
        "safe.directory=*",
        "-C",
        str(ROOT),
        "tag",
        "--points-at",
        "HEAD",
        "--list",
        "v[0-9]*",
    ]
    done = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True)
    assert set(done.stdout.split()) <= {f"v{__version__}"}
