"""The layout of the house: who may import whom, how large folders are, and one name for one thing."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import mpigauge

ROOT = Path(mpigauge.__file__).parent

RANKS = (
    "units errors sequences cache locks vocabulary atomic_file room dependencies inputs programs pdf stats",
    "plan",
    "result mpi",
    "importers rows",
    "document",
    "compare linkmap",
    "query",
    "models",
    "find check",
    "campaign",
    "doctor",
    "show",
    "ask",
    "report_folder",
    "api",
    "cli",
)
"""From the bottom; nobody imports upward, nor sideways between packages of one rank."""

MAX_MODULES = 26
LISTS = {"kernel", "importers"}
"""Folders of like things, a module for each: they grow with what there is."""


@cache
def modules() -> dict[str, Path]:
    """Return every module by its name below mpigauge: `rows.estimate`."""
    found = {}
    for path in ROOT.rglob("*.py"):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = path
    return {name: path for name, path in found.items() if name not in {"__init__", "__main__"}}


@cache
def imported(name: str) -> frozenset[str]:
    """Return the modules of ours that one imports, wherever in it, also for types alone."""
    found = set()
    for node in ast.walk(ast.parse(modules()[name].read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] == "mpigauge":
            base = str(node.module).removeprefix("mpigauge").removeprefix(".")
            each = {f"{base}.{one.name}".removeprefix(".") for one in node.names}
            found |= (each & modules().keys()) or {base}
    return frozenset(found & modules().keys())


def package(name: str) -> str:
    return name.split(".", maxsplit=1)[0]


def test_nobody_imports_upward_or_sideways() -> None:
    rank = {name: number for number, names in enumerate(RANKS) for name in names.split()}
    assert {package(name) for name in modules()} <= rank.keys()
    upward = [
        f"{name} imports {other}"
        for name in modules()
        for other in imported(name)
        if package(name) != package(other) and rank[package(other)] >= rank[package(name)] > 0
    ]
    assert upward == []


def test_statistics_know_nothing_of_the_house() -> None:
    known = {"stats", "sequences", "units", "errors", "vocabulary"}
    assert {
        package(other) for name in modules() if package(name) == "stats" for other in imported(name)
    } <= known


def test_no_modules_import_each_other_in_a_circle() -> None:
    try:
        TopologicalSorter({name: imported(name) for name in modules()}).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


def test_no_folder_has_more_modules_than_one_can_look_over() -> None:
    sizes = Counter(path.parent.relative_to(ROOT).as_posix() for path in modules().values())
    assert {
        folder: size for folder, size in sizes.items() if size > MAX_MODULES and folder not in LISTS
    } == {}


def test_no_two_public_classes_have_one_name() -> None:
    """But what users of Python see has their names, and each importer has its `Parser`."""
    found = defaultdict(list)
    for name, path in modules().items():
        if package(name) == "api":
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(name)
    assert {name: there for name, there in found.items() if len(there) > 1 and name != "Parser"} == {}


def english_in(tree: ast.AST) -> set[str]:
    """Return texts with words in them that are no docstrings, no errors and no patterns to look for."""
    exempt = set()
    for node in ast.walk(tree):
        is_pattern = isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re.")
        is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_pattern or is_docstring or isinstance(node, ast.Raise):
            exempt |= {id(inner) for inner in ast.walk(node)}
    constants = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in exempt)
    texts = (node.value for node in constants if isinstance(node.value, str))
    return {text for text in texts if re.search(r"[A-Za-z] | [A-Za-z]", text)}


def test_statistics_and_rows_write_no_sentences() -> None:
    found = {
        name: english_in(ast.parse(path.read_text(encoding="utf-8")))
        for name, path in modules().items()
        if package(name) in {"stats", "rows"}
    }
    assert {name: texts for name, texts in found.items() if texts} == {}
