"""Statuses, kinds, reasons and choices are spelled in one module; every set of them is derived there."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Literal, get_args, get_origin

import pytest

import mpigauge
from mpigauge import vocabulary
from mpigauge.find.explain.topics import TOPICS
from mpigauge.plan.factors import BY_NAME
from mpigauge.result import records

ROOT = Path(mpigauge.__file__).parent
OTHERS = sorted(path for path in ROOT.rglob("*.py") if path.name != "vocabulary.py")
LISTS: dict[str, frozenset[str]] = {
    name: frozenset(get_args(value))
    for name, value in vars(vocabulary).items()
    if get_origin(value) is Literal and len(get_args(value)) > 1
}
"""Every Literal of the vocabulary and its words."""


def words_of(node: ast.AST) -> list[object]:
    """What stands in a set, a tuple, a list or a Literal; nothing for any other expression."""
    if isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith("Literal"):
        return words_of(node.slice)
    if isinstance(node, ast.Set | ast.Tuple | ast.List):
        return [one.value for one in node.elts if isinstance(one, ast.Constant)]
    return []


def spelled(text: str) -> list[str]:
    """Collections that have two words of one list of the vocabulary, and nothing but words of it."""
    found = []
    for node in ast.walk(ast.parse(text)):
        words = {word for word in words_of(node) if isinstance(word, str) and word}
        # Topics have names of factors, which sets of factors are made of, too.
        if len(words) > 1 and not words <= BY_NAME.keys() and any(words <= one for one in LISTS.values()):
            found.append(ast.unparse(node))
    return found


@pytest.mark.parametrize(
    "text",
    [
        'BROKEN = {"failed", "timeout"}',
        'SYNCS = ("common", "barrier", "mpi_barrier")',
        'x: Literal["", "tournament", "serial"] = ""',
        'if reason in ["interrupted", "failed"]: pass',
    ],
)
def test_a_list_that_is_spelled_elsewhere_is_seen(text: str) -> None:
    assert spelled(text)


def test_no_other_module_spells_a_list_of_these_words() -> None:
    found = {path: spelled(path.read_text(encoding="utf-8")) for path in OTHERS}
    assert {path: lists for path, lists in found.items() if lists} == {}


def test_every_derived_set_has_words_of_its_list() -> None:
    assert set(vocabulary.STATUSES) >= vocabulary.BROKEN
    assert set(vocabulary.END_REASONS) >= vocabulary.RESUMABLE
    assert set(vocabulary.STATUS_OF_FAILURE) == set(get_args(vocabulary.FailureKind))
    assert set(vocabulary.STATUS_OF_FAILURE.values()) == vocabulary.BROKEN


def test_topics_are_those_of_explain() -> None:
    assert set(TOPICS) == {*get_args(vocabulary.Topic)}


def test_the_kernel_gives_the_reasons_that_are_known() -> None:
    """Else its line would be none: a visit left out for a reason unheard of would be waited for."""
    (function,) = re.findall(
        r"\*mg_skip_reason\(.*?^}",
        "\n".join(map(Path.read_text, ROOT.rglob("*.c"))),
        re.DOTALL | re.MULTILINE,
    )
    assert set(re.findall(r'return "(\w+)";', function)) == set(vocabulary.SKIP_REASONS)


def test_records_have_these_types() -> None:
    assert records.Failure.__annotations__["kind"] == vocabulary.FailureKind
    assert records.End.__annotations__["reason"] == vocabulary.EndReason
