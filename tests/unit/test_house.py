"""The rules of the house: who may print, exit and start processes."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import mpigauge
from mpigauge.cli import COMMANDS
from mpigauge.cli import MODULES as VERB_MODULES
from tests.places import ROOT as REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(mpigauge.__file__).parent
TESTS = REPOSITORY / "tests"
MODULES = sorted(
    path for path in ROOT.rglob("*.py") if path.parent != ROOT or path.stem not in {"__init__", "__main__"}
)

NAMES = {
    ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in ROOT.rglob("*.py")
    if path != ROOT / "__init__.py"
}
"""Every module by its full name."""

START_PROCESSES = {"campaign", "mpi", "pdf", "programs"}
SLOW = {"matplotlib", "numpy", "scipy", "rich", "msgspec"}


def part_of(path: Path) -> str:
    """The folder or module of the house that a file belongs to."""
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of a file's syntax tree."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def imports_of(path: Path) -> Iterator[str]:
    """The full names of all modules that a file imports, wherever in it."""
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield str(node.module)
            yield from (f"{node.module}.{name.name}" for name in node.names)


@cache
def calls_of(path: Path) -> frozenset[str]:
    """The names of all functions that a file calls: print, sys.exit."""
    return frozenset(ast.unparse(node.func) for node in nodes_of(path) if isinstance(node, ast.Call))


def test_programs_are_searched_for_in_one_place() -> None:
    """Only `programs` leaves out what PATH has of the folder that we are in."""
    assert [path.name for path in MODULES if "shutil.which" in calls_of(path)] == ["programs.py"]


def test_what_is_printed_is_a_document_or_a_cleaned_note() -> None:
    """Names of files and of strangers' things may have codes in them that would speak to the terminal."""
    cleaned = {"rendered", "clean", "printable_lines", "shown"}
    ours = {"completion", "handout", "kernel.build", "msgspec.json.format"}
    found = []
    for path in MODULES:
        for node in nodes_of(path):
            if not (isinstance(node, ast.Call) and ast.unparse(node.func) == "click.echo"):
                continue
            (said,) = node.args
            calls = {ast.unparse(one.func) for one in ast.walk(said) if isinstance(one, ast.Call)}
            if not (calls & (cleaned | ours) or ast.unparse(said) == "text" or path.name == "version.py"):
                found.append(f"{path.name}:{node.lineno}: click.echo({ast.unparse(said)})")
    assert found == [], "say it by streams.note"


def test_only_the_command_line_prints_and_exits() -> None:
    for path in MODULES:
        if part_of(path) != "cli":
            forbidden = {
                "print",
                "click.echo",
                "sys.exit",
                "exit",
                "quit",
                "sys.stdout.write",
                "sys.stderr.write",
            }
            assert not forbidden & calls_of(path), path
            assert "click" not in imports_of(path), path


def test_only_campaigns_libraries_and_the_printer_of_pages_start_processes() -> None:
    for path in MODULES:
        if part_of(path) not in START_PROCESSES:
            assert not {"subprocess", "multiprocessing", "pty"} & set(imports_of(path)), path
            assert not {"os.system", "os.popen", "os.fork", "os.execv", "os.posix_spawn"} & calls_of(path), (
                path
            )


def modules_imported(path: Path) -> set[str]:
    """The modules of the house that a file imports, wherever in it and for whatever purpose."""
    found = set()
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            names = {f"{node.module}.{name.name}" for name in node.names}
            found |= names if names <= NAMES.keys() else {*names, str(node.module)}
    return found & NAMES.keys()


def test_no_verb_imports_another() -> None:
    verbs = {f"mpigauge.cli.verbs.{VERB_MODULES.get(name, name)}" for name in COMMANDS}
    for verb in verbs:
        assert not modules_imported(NAMES[verb]) & (verbs - {verb}), verb


def loaded_by(*words: str) -> set[str]:
    """The top-level modules that a command line loads."""
    return loaded_after(f"from mpigauge.cli import status_of\nstatus = status_of({list(words)!r})")


def loaded_after(statement: str) -> set[str]:
    """The top-level modules that a statement loads, which may set `status`."""
    text = (
        f"import sys\nstatus = 0\n{statement}\n"
        "print('loaded', *{name.split('.')[0] for name in sys.modules}, file=sys.stderr)\nsys.exit(status)"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    first, *modules = done.stderr.splitlines()[-1].split()  # after a completion nobody hears standard output
    assert first == "loaded"
    return set(modules)


@pytest.mark.parametrize(
    "words", [("--help",), ("--version",), ("run", "--help"), ("map", "--help"), ("plot", "--help")]
)
def test_help_does_not_wait_for_what_computes(words: tuple[str, ...]) -> None:
    loaded = loaded_by(*words)
    assert "click" in loaded
    assert not SLOW & loaded


def test_no_launch_waits_for_what_computes() -> None:
    loaded = loaded_after("import mpigauge.cli.verbs.run, mpigauge.campaign.measuring")
    assert {"click", "msgspec"} <= loaded
    assert not {"matplotlib", "numpy", "scipy"} & loaded


# ---- Tests ---------------------------------------------------------------------------------------


def is_test(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name.startswith("test_")


def is_thorough(node: ast.AST) -> bool:
    """Whether `make test` leaves out a test, or what a line marks."""
    marks = node.decorator_list if isinstance(node, ast.FunctionDef) else [node]
    return any(ast.unparse(mark).endswith(("pytest.mark.thorough", "pytest.mark.truth")) for mark in marks)


def test_every_module_is_tested_every_day() -> None:
    """Some of the tests of a module may be thorough or measure, never all of them."""
    for path in (one for folder in ("cli", "unit") for one in (TESTS / folder).rglob("test_*.py")):
        tests = [node for node in nodes_of(path) if is_test(node)]
        thorough = [test for test in tests if is_thorough(test)]
        assert not thorough or len(thorough) < len(tests), path
        whole = [node for node in nodes_of(path) if isinstance(node, ast.Assign) and is_thorough(node)]
        assert not whole, path


def test_marks_that_say_where_a_test_runs_stand_in_its_own_file() -> None:
    """The Makefile finds the files of some marks by their text, so no other file may give them a mark."""
    for path in TESTS.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"import .*\bpytestmark\b", text), path
        assert path.name.startswith("test_") or not re.search(r"\bmark\.(mpi|slurm|lab)\b", text), path
