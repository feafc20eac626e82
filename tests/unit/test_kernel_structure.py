"""How the files of the C programs hang together: seen from what they include, without a compiler or MPI."""

from __future__ import annotations

import re
from collections import defaultdict
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

import pytest

from mpigauge.mpi import kernel
from tests.places import ROOT

if TYPE_CHECKING:
    from pathlib import Path

LAB = ROOT / "src" / "mpigauge" / "campaign" / "lab"
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def text_of(path: Path) -> str:
    """The file without its comments."""
    return _COMMENT.sub(" ", path.read_text(encoding="ascii"))


def included(folder: Path) -> dict[Path, set[Path]]:
    """What each part includes; a header and the file of its name are one part.

    The compiler refuses functions without a declaration (-Wmissing-prototypes), so nothing is used that is
    not included.
    """
    found: dict[Path, set[Path]] = defaultdict(set)
    for path in [path for path in folder.rglob("*") if path.suffix in {".c", ".h"}]:
        for name in _INCLUDE.findall(text_of(path)):
            header = path.parent / name if (path.parent / name).exists() else folder / name
            found[path.with_suffix("")].add(header.with_suffix(""))
        found[path.with_suffix("")].discard(path.with_suffix(""))
    return found


@pytest.mark.parametrize("folder", [kernel.SOURCES, LAB], ids=["kernel", "lab"])
def test_there_is_no_circle_of_files(folder: Path) -> None:
    parts = included(folder)
    assert len(parts) > 2
    try:
        TopologicalSorter(parts).prepare()
    except CycleError as error:
        pytest.fail(" includes ".join(map(str, reversed(error.args[1]))))


KEPT = {"chase.c: cycle"}
"""Variables of a pattern that outlive a visit: memory that takes seconds to link."""


def test_a_pattern_keeps_nothing_but_in_the_state_of_its_visit() -> None:
    """So that visits at the same time, or threads, do not meet in it."""
    statics = re.compile(
        r"^static (?!const\b|inline\b|_Noreturn\b)(?:struct(?: \w+)? \{[^}]*\}|[\w ]+?)[ *]+(\w+)"
        r"(?:\[[^\]]*\])*(?: =[^;]*)?;",
        re.MULTILINE,
    )
    found = {
        f"{path.name}: {name}"
        for path in (kernel.SOURCES / "patterns").glob("*.[ch]")
        for name in statics.findall(text_of(path))
    }
    assert found == KEPT


def test_a_pattern_file_knows_no_clock_and_no_text() -> None:
    listed = (kernel.SOURCES / "patterns" / "patterns.def").read_text(encoding="ascii")
    for name in re.findall(r"^MG_PATTERN\((\w+)\)", listed, re.MULTILINE):
        text = text_of(kernel.SOURCES / "patterns" / f"{name}.c")
        assert not {"clock", "text"} & {header.partition("/")[0] for header in _INCLUDE.findall(text)}, name
        assert not re.search(r"\bmg_(now|cpu)_ns\b|\bmg_journal_", text), name
