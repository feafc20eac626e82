"""The search of the built pages, in a browser: whoever asks how is led to a page for users."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.places import DOCS, ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Search = Callable[[str], Sequence[str]]

pytestmark = [pytest.mark.browser, pytest.mark.thorough]

FOUND = "query => Search._performSearch(...Search._parseQuery(query)).reverse().map(found => found[0])"
"""Return the pages that are found, the best first, as the search page orders them."""

PATIENCE_MS = 60_000
"""For a machine that does much else."""

LAST = {"design", "cli", "formats"}
"""Pages that are generated, or about the program."""


@pytest.fixture(scope="module")
def search(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Search]:
    """Return what the search of the pages finds for some words."""
    pytest.importorskip("sphinx")
    built = tmp_path_factory.mktemp("html")
    words = [sys.executable, "-m", "sphinx", "-q", "-b", "html", str(DOCS), str(built)]
    subprocess.run(words, cwd=ROOT, timeout=300, check=True)
    page = browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto((built / "search.html").as_uri())
    page.wait_for_function("Search.hasIndex()")
    yield lambda query: page.evaluate(FOUND, query)
    page.close()


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("install", "install"),
        ("slurm", "slurm"),
        ("compare libraries", "howto"),
        ("eager limit", "howto"),
        ("slow link", "map"),
        ("plot", "which-command"),
        ("resume", "which-command"),
        ("report", "report"),
        ("osu", "coming-from-osu"),
        ("confidence interval", "tutorial"),
    ],
)
def test_a_question_is_answered_by_a_page_for_users(search: Search, query: str, wanted: str) -> None:
    found = [*dict.fromkeys(search(query))]
    assert wanted in found[:2]
    assert not LAST & set(found[:2])


def test_the_design_is_found_by_its_own_words(search: Search) -> None:
    assert "design" in search("decisions")
