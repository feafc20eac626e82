"""The numbers behind the pages, recomputed by a script that shares nothing with mpigauge.

It recomputes what the commands of a page say as JSON. That a page has what they print is held by test_pages.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.docs.recomputing.ledger import Ledger
from tests.cli.docs.recomputing.page import Facts, facts_behind, recompute
from tests.places import DOCS

sys.path.insert(0, str(DOCS))
import draw
import pages

if TYPE_CHECKING:
    from collections.abc import Callable

PAGES = {
    "reports/exchange": 0.87,
    "reports/ring": 0.9,
    "reports/modes": 0.85,
    "reports/libraries": 0.85,
    "reports/memory": 0.88,
    "scoreboard": 0.98,
}
"""Of the numbers behind each page, the share that must be recomputed at least.

The others are how wide intervals are that hold for many cells at once, and launches that would be needed.
"""

SCRIPT = [*Path(__file__).with_name("recomputing").glob("*.py")]


@pytest.fixture(scope="module")
def behind(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], list[Facts]]:
    """What gives the facts behind a page."""
    here = draw.workshop(tmp_path_factory.mktemp("recomputed"))

    def facts(name: str) -> list[Facts]:
        page = pages.read(DOCS / f"{name}.md")
        for command in page.making():
            if command.verb == "import" and not (here / command.makes).exists():
                draw.run(command, here, print_too=False)
        return [*facts_behind(page.text, lambda words: json.loads(draw.run_words(words, here)))]

    return facts


@pytest.fixture(scope="module")
def ring(behind: Callable[[str], list[Facts]], _read_once: None) -> list[Facts]:
    return behind("reports/ring")


def changed(fact: Any, change: Callable[[Any], Any]) -> Any:
    """A fact with all values in it changed."""
    if isinstance(fact, dict):
        return {name: changed(part, change) for name, part in fact.items()}
    return [changed(part, change) for part in fact] if isinstance(fact, list) else change(fact)


def with_other_digit(value: Any) -> Any:
    """A measured number with another third digit; sizes and counts as they are."""
    if not isinstance(value, float) or value in (0, 1):
        return value
    mantissa, exponent = f"{value:.12e}".split("e")
    return float(f"{mantissa[:-10]}{(int(mantissa[-10]) + 3) % 10}{mantissa[-9:]}e{exponent}")


@pytest.mark.thorough
@pytest.mark.usefixtures("_read_once")
@pytest.mark.parametrize("page", PAGES)
def test_all_numbers_behind_a_page_are_those_of_the_stored_results(
    page: str, behind: Callable[[str], list[Facts]]
) -> None:
    ledger = recompute(behind(page))
    assert not ledger.differ, "\n".join(ledger.differ[:20])
    assert ledger.share >= PAGES[page], ledger.left.most_common()


@pytest.mark.thorough
def test_a_digit_that_is_changed_in_a_fact_is_noticed(ring: list[Facts]) -> None:
    wrong = recompute([one._replace(said=changed(one.said, with_other_digit)) for one in ring])
    assert len(wrong.differ) > 900
    assert [one for one in wrong.agreed if with_other_digit(one) != one] == []


@pytest.mark.thorough
def test_a_digit_that_is_changed_in_a_page_is_noticed(tmp_path: Path) -> None:
    page = pages.read(DOCS / "reports" / "ring.md")
    text = re.sub(r"^\$ mpigauge plot .*\n", "", page.text, flags=re.MULTILINE)
    wrong = pages.BLOCK.sub(lambda block: re.sub(r"\d(?= [nµm]s\b)", "7", block[0]), text)
    assert wrong != text
    assert draw.fresh(pages.Page(page.path, wrong), draw.workshop(tmp_path), {}, print_too=False) == text


@pytest.mark.thorough
def test_a_verdict_that_is_turned_over_is_noticed(ring: list[Facts]) -> None:
    turned = {"slower": "faster", "faster": "slower", "confirmed": "refuted", "refuted": "confirmed"}
    wrong = [one._replace(said=changed(one.said, lambda value: turned.get(value, value))) for one in ring]
    assert {re.sub(r"\[.*", "", one).partition(" ")[0] for one in recompute(wrong).differ} >= {
        "pairs",
        "claim",
    }


def test_what_differs_or_is_left_is_told() -> None:
    ledger = Ledger()
    ledger.compare(
        {"a": 1.0, "b": [1, 2], "c": {"d": 3, "e": "x"}}, {"a": 1.1, "b": [1, 2], "c": {"e": "x"}}, "one"
    )
    assert ledger.differ == ["one.a: 1.0 should be 1.1"]
    assert (ledger.agreed, dict(ledger.left), ledger.share) == ([1, 2], {"one.c.d": 1}, 0.75)


def test_the_script_uses_the_standard_library_alone() -> None:
    for path in SCRIPT:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                known = name.split(".")[0] in sys.stdlib_module_names
                ours = name.startswith(("tests.cli.docs.recomputing.", "tests.places"))
                assert known or ours, f"{path.name} imports {name}"
