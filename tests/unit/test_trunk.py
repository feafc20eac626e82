"""The trunk, as docs/design.md lists it: files that carry, and import no leaf but through its list."""

from __future__ import annotations

import re

from mpigauge.mpi import kernel
from tests.places import ROOT
from tests.unit.test_kernel_structure import included
from tests.unit.test_layout import imported, modules

LEAVES = (
    "api",
    "campaign.allocations",
    "campaign.lab",
    "check",
    "cli",
    "compare.history",
    "doctor",
    "find",
    "importers",
    "linkmap",
    "models",
    "mpi.install",
    "show",
)
"""Folders of leaves: what hangs on the trunk, each file or feature by itself."""

DOORS = {"campaign.lab.context", "campaign.lab.counters", "mpi.install.digest"}
"""What features offer to the trunk: whether this process is in a lab, and of what wheels a library is."""

PATTERN_HEADERS = {"calls", "pattern", "registry", "rma", "traits", "volume", "volumes", "window"}
"""What all patterns share."""


def trunk() -> list[str]:
    """Return the files of the trunk, in the order in which they are read."""
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    section = page.partition("## The trunk\n")[2].partition("\n## ")[0]
    return [
        name
        for row in re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
        for name in re.findall(r"`(.+?)`", row)
    ]


def test_the_trunk_is_told_first_and_is_there() -> None:
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.*)$", page, re.MULTILINE)[0] == "The trunk"
    files = trunk()
    assert len(files) == len(set(files)) > 40
    assert [name for name in files if not (ROOT / "src" / "mpigauge" / name).is_file()] == []


def test_a_small_leaf_of_each_kind_is_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| .* \| (?:`(\w+)` in )?`(.+?)` \|$", text.partition("| kind | small |")[2], re.MULTILINE
    )
    assert len(rows) > 8
    for function, name in rows:
        assert re.search(
            rf"\b{function}\b", (ROOT / "src" / "mpigauge" / name).read_text(encoding="utf-8")
        ), name


def test_no_file_of_the_trunk_imports_a_leaf_but_through_its_list() -> None:
    names = [name.removesuffix(".py").replace("/", ".") for name in trunk() if name.endswith(".py")]
    assert set(names) <= modules().keys()
    leaves = [
        f"{name} imports {other}"
        for name in names
        for other in imported(name) - DOORS
        if any(other.startswith(f"{folder}.") for folder in LEAVES)
    ]
    assert leaves == []
    assert {other for name in names for other in imported(name)} >= DOORS, "a door that nobody uses"


def test_no_file_of_the_kernels_trunk_knows_a_pattern() -> None:
    folder = kernel.SOURCES
    own = {
        (folder / name.removeprefix("kernel/")).with_suffix("")
        for name in trunk()
        if name.startswith("kernel/") and not name.endswith(".def")
    }
    parts = included(folder)
    assert own <= parts.keys()
    patterns = {path for name in own for path in parts[name] if path.parent == folder / "patterns"}
    assert {path.name for path in patterns} <= PATTERN_HEADERS
