"""Texts that pages show as they were posted: each is read, and the answer below it is what mpigauge says."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.places import DOCS

if TYPE_CHECKING:
    from tests.conftest import Cli

PASTE = re.compile(
    r"<!-- paste: (?P<name>[\w.-]+) -->\n\n```text\n(?P<text>.*?)```\n.*?"
    r"<!-- answer: mpigauge (?P<command>[^\n]+) -->\n\n```text\n(?P<answer>.*?)```",
    re.DOTALL,
)


@dataclass(frozen=True)
class Paste:
    """A text on a page, and what is said of it.

    Attributes:
        command: With its arguments, without the program.
    """

    page: str
    name: str
    text: str
    command: str
    answer: str


PASTES = [
    Paste(page.name, *match.group("name", "text", "command", "answer"))
    for page in sorted(DOCS.glob("*.md"))
    for match in PASTE.finditer(page.read_text(encoding="utf-8"))
]


def test_the_pages_of_other_benchmarks_have_one_each() -> None:
    assert {one.page for one in PASTES} >= {"coming-from-osu.md", "coming-from-imb.md", "foreign-text.md"}


@pytest.mark.parametrize("paste", PASTES, ids=lambda paste: f"{paste.page}: {paste.name}")
def test_the_answer_is_what_the_page_shows(
    cli: Cli, paste: Paste, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(paste.name).write_text(paste.text, encoding="utf-8")
    done = cli(*shlex.split(paste.command))
    assert done.out.strip().startswith(paste.answer.strip())
