"""The numbers of the pages, recomputed by a script that shares nothing with mpigauge."""

from __future__ import annotations

import ast
import re
import shlex
import sys
from pathlib import Path

import pytest

from tests.cli.docs.recomputing.page import recompute
from tests.places import DOCS

sys.path.insert(0, str(DOCS))
import draw

PAGES = {
    "reports/exchange": 0.9,
    "reports/ring": 0.9,
    "reports/modes": 0.8,
    "reports/libraries": 0.9,
    "reports/memory": 0.77,
    "scoreboard": 0.9,
}
"""Of the numbers in the outputs of each page, the share that must be recomputed at least."""

SCRIPT = [*Path(__file__).with_name("recomputing").glob("*.py"), Path(__file__).with_name("recompute.py")]
EXPLAIN = re.compile(r"^\$ (mpigauge explain .* --top \d .*)$", re.MULTILINE)
RATIO = re.compile(r"(?<=: )[^:(]*?(\d)(?= times \()")


def text_of(page: str) -> str:
    return (DOCS / f"{page}.md").read_text(encoding="utf-8")


def other(digit: str) -> str:
    return str((int(digit) + 3) % 10)


@pytest.mark.thorough
@pytest.mark.parametrize("page", PAGES)
def test_all_numbers_of_a_page_are_those_of_the_stored_results(page: str) -> None:
    ledger = recompute(text_of(page))
    assert not ledger.differ, "\n".join(ledger.differ[:20])
    assert ledger.share >= PAGES[page], "\n".join(f"{count}: {one}" for one, count in ledger.unchecked)


@pytest.mark.thorough
@pytest.mark.parametrize("page", [page for page in PAGES if page.startswith("reports/")])
def test_so_are_the_sentences_for_which_a_page_has_no_room(page: str, tmp_path: Path) -> None:
    here, checked = draw.workshop(tmp_path), 0
    for command in EXPLAIN.findall(text_of(page)):
        words = shlex.split(command.replace("--top 5", "--all").replace("--top 3", "--all"))
        said = draw.run_words(words[1:], here)
        ledger = recompute(f"```console\n$ {shlex.join(words)}\n```\n<!-- output -->\n{said}<!-- end -->")
        assert not ledger.differ, "\n".join(ledger.differ[:20])
        checked += ledger.agree
    assert checked > 100


@pytest.mark.thorough
def test_a_digit_that_is_changed_in_a_table_or_a_sentence_is_noticed() -> None:
    lines, changed = text_of("reports/ring").splitlines(keepends=True), 0
    for place, line in enumerate(lines):
        if (line.startswith("- ") and (match := RATIO.search(line))) or (
            match := re.match(r"\| [\d.]+ [KM]?i?B \| [\d.]*?(\d) [nµm]s \|", line)
        ):
            begin, end = match.span(1)
        else:
            continue
        lines[place] = line[:begin] + other(line[begin:end]) + line[end:]
        changed += 1
    before = len(recompute(text_of("reports/ring")).differ)
    assert changed > 10
    assert len(recompute("".join(lines)).differ) - before >= changed


@pytest.mark.thorough
def test_a_verdict_that_is_turned_over_is_noticed() -> None:
    text = text_of("reports/ring")
    assert ": slower at" in text
    assert len(recompute(text.replace(": slower at", ": faster at")).differ) > len(recompute(text).differ)


@pytest.mark.parametrize("path", SCRIPT, ids=lambda path: path.name)
def test_the_script_uses_the_standard_library_alone(path: Path) -> None:
    tree = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    imports = [node for node in tree if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {
        name
        for node in imports
        for name in (
            [node.module or ""] if isinstance(node, ast.ImportFrom) else [one.name for one in node.names]
        )
    }
    strange = {name for name in names if name.split(".")[0] not in sys.stdlib_module_names}
    assert all(name.startswith("tests.cli.docs.recomputing.") for name in strange), strange
