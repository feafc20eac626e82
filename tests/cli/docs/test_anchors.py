"""Links to headings, in sources and pages, lead to one, and nothing is cited by the number of a section."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import pytest

from tests.places import DOCS, ROOT

if TYPE_CHECKING:
    from pathlib import Path

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
ENDINGS = (".py", ".c", ".h", ".def", ".json", ".toml")
SOURCES = sorted(
    path
    for folder in ("src", "tests", "benchmarks", "docs", "examples")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in ENDINGS and not {"_build", "__pycache__"} & set(path.parts)
)

CITED = re.compile(r"\bdocs/([\w/-]+\.md)(?:#([\w-]*\w))?")
LINKED = re.compile(r"\]\(([^)#\s]*)#([^)\s]+)\)")
NUMBERED = re.compile(
    r"\b(?:methods?|rules?|design|sections?)(?:\.md)?,? \d+(?:\.\d+)?\b(?! ?%)", re.IGNORECASE
)
"""Headings have no numbers, so whoever cites a number cites a page that the reader does not have."""


@cache
def headings(page: Path) -> frozenset[str]:
    """The anchors that a page's headings make: small letters, words joined by dashes, no other signs."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return frozenset(re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles)


def dangling(text: str) -> list[str]:
    """What a source cites of the pages and they do not have."""
    return [
        cited[0]
        for cited in CITED.finditer(text)
        if not (DOCS / cited[1]).exists() or (cited[2] and cited[2] not in headings(DOCS / cited[1]))
    ]


@pytest.mark.parametrize("folder", ["src", "tests", "benchmarks", "docs", "examples"])
def test_every_heading_that_a_source_cites_exists(folder: str) -> None:
    sources = [path for path in SOURCES if path.relative_to(ROOT).parts[0] == folder]
    assert sources
    found = {str(path.relative_to(ROOT)): dangling(path.read_text(encoding="utf-8")) for path in sources}
    assert {name: cited for name, cited in found.items() if cited} == {}


def test_a_heading_that_is_gone_is_found() -> None:
    page = "docs" + "/method.md"
    assert dangling(f"see {page}#batching, {page}#no-such-heading and docs" + "/nothing.md#a.") == [
        f"{page}#no-such-heading",
        "docs" + "/nothing.md#a",
    ]


def test_a_link_to_the_command_of_a_slow_host_leads_to_it() -> None:
    page = (DOCS / "administrator.md").read_text(encoding="utf-8")
    (target,) = re.findall(r"\[the command\]\(([\w.]+)#?[\w-]*\)", page)
    commands = re.findall(r"^mpigauge lab .*", (DOCS / target).read_text(encoding="utf-8"), re.MULTILINE)
    assert any("--host h3:delay=150us" in command for command in commands)


@pytest.mark.thorough
def test_nothing_is_cited_by_the_number_of_its_section() -> None:
    pages = [path for path in PAGES if path.name != "cli.md"]
    found = {
        str(path.relative_to(ROOT)): NUMBERED.findall(path.read_text(encoding="utf-8"))
        for path in (*SOURCES, *pages)
    }
    assert {name: cited for name, cited in found.items() if cited} == {}
    assert all(NUMBERED.search(f"{word} {number}") for word, number in [("Method", 1.11), ("rules", 3)])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_of_a_page_leads_to_a_heading(page: Path) -> None:
    for target, anchor in LINKED.findall(page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert anchor in headings(page.parent / target if target else page), f"{target}#{anchor}"
