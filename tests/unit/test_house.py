"""The rules of the house: who may import whom, who may print, exit and start processes."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import mpigauge
from mpigauge.cli import COMMANDS
from mpigauge.cli import MODULES as VERB_MODULES

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(mpigauge.__file__).parent
MODULES = sorted(
    path for path in ROOT.rglob("*.py") if path.parent != ROOT or path.stem not in {"__init__", "__main__"}
)

RANKS = (
    {"cli"},
    {"campaign", "show", "formats"},
    {"analysis", "launch", "mpi"},
    {"result"},
    {"plan"},
    {"units", "errors", "cache", "vocabulary"},
)
"""From the top; nobody imports upward, nor sideways but for campaign."""

SIDEWAYS = {"campaign", "errors", "vocabulary"}
"""campaign drives others of its rank; errors and vocabulary are everybody's."""

START_PROCESSES = {"launch", "mpi"}
SLOW = {"matplotlib", "numpy", "scipy", "rich", "msgspec"}


def part_of(path: Path) -> str:
    """The folder or module of the house that a file belongs to."""
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def rank_of(part: str) -> int:
    """Counted from the top."""
    return next(number for number, parts in enumerate(RANKS) if part in parts)


def imports_of(path: Path) -> Iterator[str]:
    """The full names of all modules that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield str(node.module)
            yield from (f"{node.module}.{name.name}" for name in node.names)


def calls_of(path: Path) -> Iterator[str]:
    """The names of all functions that a file calls: print, sys.exit."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func)


def parts_imported(path: Path) -> set[str]:
    """The parts of the house that a file imports."""
    parts = (name.split(".") for name in imports_of(path) if name.startswith("mpigauge."))
    return {words[1] for words in parts if words[1] != "__version__"}


def test_every_part_has_a_rank() -> None:
    parts = {part_of(path) for path in MODULES}
    assert parts <= set().union(*RANKS)
    assert {"cli", "campaign", "result", "plan", "units"} <= parts


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nobody_imports_upward_or_sideways(path: Path) -> None:
    part = part_of(path)
    for other in parts_imported(path) - {part}:
        here, there = rank_of(part), rank_of(other)
        assert here < there or (here == there and {part, other} & SIDEWAYS), f"{part} imports {other}"


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
            assert not forbidden & set(calls_of(path)), path
            assert "click" not in imports_of(path), path


def test_only_launch_and_mpi_start_processes() -> None:
    for path in MODULES:
        if part_of(path) not in START_PROCESSES:
            assert not {"subprocess", "multiprocessing", "pty"} & set(imports_of(path)), path
            assert not {"os.system", "os.popen", "os.fork", "os.execv", "os.posix_spawn"} & set(
                calls_of(path)
            ), path


def test_the_modules_of_the_kernels_texts_are_alone_with_them() -> None:
    """Only plan writes the kernel's plan, only result reads its journal; campaign is handed both."""
    for path in MODULES:
        text = path.read_text(encoding="utf-8")
        assert "rounds_min=" not in text or part_of(path) == "plan", path
        assert "samples_ns: list" not in text or part_of(path) == "result", path


def module_of(path: Path) -> str:
    """The full name of a module."""
    names = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(names[:-1] if names[-1] == "__init__" else names)


def imported_modules(path: Path) -> set[str]:
    """The modules of the house that a file imports, wherever in it: in functions and for types, too."""
    ours = {module_of(other) for other in MODULES} - {module_of(path)}
    return ours & set(imports_of(path))


def circles(arrows: dict[str, set[str]]) -> list[set[str]]:
    """Groups of modules that import each other, at whatever distance."""

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        ahead = [start]
        while ahead:
            ahead += (found := arrows[ahead.pop()] - seen)
            seen |= found
        return seen

    all_reached = {name: reached(name) for name in arrows}
    groups = {
        frozenset(other for other in there if name in all_reached[other])
        for name, there in all_reached.items()
        if name in there
    }
    return [set(group) for group in groups]


def test_no_two_modules_of_the_command_line_import_each_other() -> None:
    """A package is left out: it imports its verbs by name, when they are used."""
    arrows = {module_of(path): imported_modules(path) for path in MODULES if part_of(path) == "cli"}
    arrows = {name: there & arrows.keys() - {"mpigauge.cli"} for name, there in arrows.items()}
    assert circles(arrows) == []
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [{"b", "c"}]


@pytest.mark.parametrize("verb", COMMANDS)
def test_no_verb_imports_another(verb: str) -> None:
    modules = {name: f"mpigauge.cli.{VERB_MODULES.get(name, name)}" for name in COMMANDS}
    path = ROOT / "cli" / f"{VERB_MODULES.get(verb, verb)}.py"
    assert not imported_modules(path) & (set(modules.values()) - {modules[verb]})


def loaded_by(*words: str) -> set[str]:
    """The top-level modules that a command line loads."""
    text = (
        "import sys\nfrom mpigauge.cli import status_of\n"
        f"status = status_of({list(words)!r})\n"
        "print('loaded', *{name.split('.')[0] for name in sys.modules})\nsys.exit(status)"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split()[1:])


@pytest.mark.parametrize(
    "words", [("--help",), ("--version",), ("run", "--help"), ("map", "--help"), ("plot", "--help")]
)
def test_help_does_not_wait_for_what_computes(words: tuple[str, ...]) -> None:
    loaded = loaded_by(*words)
    assert "click" in loaded
    assert not SLOW & loaded
