"""How the files of the C programs hang together: seen from their text, without a compiler or MPI."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

from mpigauge.mpi import kernel
from tests.places import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

LAB = ROOT / "src" / "mpigauge" / "run" / "lab"
FOLDERS = {"kernel": kernel.SOURCES, "lab": LAB}
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_TEXT = re.compile(r'"(?:\\.|[^"\\])*"')
_INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
_NAME = r"(?:mg|lab)_\w+"
_ARRAY = r"(?:\s*\[[^;=]*\])?"
_DEFINITION = re.compile(rf"^(?!static|extern)\w[\w* ]*?\b({_NAME})\([^;{{}}]*\)\s*\{{", re.MULTILINE)
_DECLARATION = re.compile(rf"^(?!static|typedef)\w[\w* ]*?\b({_NAME})\([^;{{}}]*\)[^;{{}}]*;", re.MULTILINE)
_VARIABLE = re.compile(
    rf"^(?!static|extern|typedef|struct \w+;)\w[\w ]*? ({_NAME}){_ARRAY}\s*[=;]", re.MULTILINE
)
_DECLARED_VARIABLE = re.compile(rf"^extern [\w ]+? ({_NAME}){_ARRAY}\s*;", re.MULTILINE)
_STATIC = re.compile(r"^ *static\b[^;{(=]*(?:=|;|\{)", re.MULTILINE)


def text_of(path: Path) -> str:
    """A file without its comments."""
    return _COMMENT.sub(" ", path.read_text(encoding="ascii"))


def part(path: Path, folder: Path) -> str:
    """A header and the file of its name are one part."""
    return str(path.relative_to(folder).with_suffix(""))


def files(folder: Path) -> list[Path]:
    """All C files and headers."""
    return sorted(path for path in folder.rglob("*") if path.suffix in {".c", ".h"})


def defined(text: str) -> set[str]:
    """What other files may use."""
    return set(_DEFINITION.findall(text)) | set(_VARIABLE.findall(text))


def declared(text: str) -> set[str]:
    """What a header says that its file defines."""
    return set(_DECLARATION.findall(text)) | set(_DECLARED_VARIABLE.findall(text))


def arrows(folder: Path) -> dict[str, set[str]]:
    """Which part includes a header of which other, or uses what it defines."""
    texts = {path: text_of(path) for path in files(folder)}
    owner = {name: part(path, folder) for path, text in texts.items() for name in defined(text)}
    found: dict[str, set[str]] = defaultdict(set)
    for path, text in texts.items():
        mine = part(path, folder)
        for header in _INCLUDE.findall(text):
            near = path.parent / header
            found[mine].add(part(near if near.exists() else folder / header, folder))
        used = set(re.findall(rf"\b{_NAME}\b", _TEXT.sub('""', text)))
        found[mine] |= {owner[name] for name in used if name in owner}
        found[mine].discard(mine)
    return found


def circle(graph: Mapping[str, set[str]]) -> list[str]:
    """The parts of a circle, in order; none if there is none."""
    done: set[str] = set()

    def walk(at: str, way: list[str]) -> list[str]:
        if at in way:
            return [*way[way.index(at) :], at]
        if at in done:
            return []
        for following in sorted(graph.get(at, set())):
            if found := walk(following, [*way, at]):
                return found
        done.add(at)
        return []

    return next((found for start in sorted(graph) if (found := walk(start, []))), [])


def patterns() -> Iterator[Path]:
    """One file a pattern."""
    text = (kernel.SOURCES / "patterns" / "patterns.def").read_text(encoding="ascii")
    listed = re.findall(r"^MG_PATTERN\((\w+)\)", text, re.MULTILINE)
    return (kernel.SOURCES / "patterns" / f"{name}.c" for name in listed)


def test_circles_are_found() -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    assert not circle({"a": {"b", "c"}, "b": {"c"}})


@pytest.mark.parametrize("name", FOLDERS)
def test_there_is_no_circle_of_files(name: str) -> None:
    graph = arrows(FOLDERS[name])
    assert len(graph) > 2
    assert not circle(graph)


@pytest.mark.parametrize("name", FOLDERS)
def test_a_header_declares_exactly_what_its_file_defines(name: str) -> None:
    folder = FOLDERS[name]
    programs = {path for path in files(folder) if re.search(r"^int main\(", text_of(path), re.MULTILINE)}
    own = set(patterns()) | programs
    for path in files(folder):
        if path.suffix == ".c" and path not in own:
            header = path.with_suffix(".h")
            assert declared(text_of(header)) == defined(text_of(path)), path
        elif path.suffix == ".h" and not path.with_suffix(".c").exists():
            assert not declared(text_of(path)), path


def test_a_pattern_file_knows_no_clock_and_no_text() -> None:
    for path in patterns():
        folders = {header.partition("/")[0] for header in _INCLUDE.findall(text_of(path))}
        assert folders <= {"patterns", "memory", "ranks", "rounds"}, path
        assert not re.search(r"\bmg_(now|cpu)_ns\b|\bmg_journal_", text_of(path)), path
        assert len(defined(text_of(path))) == 1, path


def statics(text: str) -> list[str]:
    """The static variables of a file that change."""
    found = [match.group().strip() for match in _STATIC.finditer(text)]
    return [words for words in found if not re.match(r"static (?:inline|const|_Noreturn)\b", words)]


def test_static_variables_are_found() -> None:
    constants = "static const int a = 1;\nstatic void b(void)\n{\n}\n"
    assert not statics(constants)
    assert len(statics(constants + "static int c;\nstatic struct {\n    int d;\n} e;\n")) == 2


def test_what_changes_is_one_struct_per_file() -> None:
    for path in files(kernel.SOURCES):
        assert len(statics(text_of(path))) <= 1, (path, statics(text_of(path)))
