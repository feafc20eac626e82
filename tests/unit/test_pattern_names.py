"""The kernel's patterns are named by itself alone: Python asks what it says of them."""

from __future__ import annotations

import ast
import json
import re
from operator import attrgetter
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from mpigauge.find.explain.topics import TOPICS
from mpigauge.mpi import kernel
from mpigauge.plan import names
from mpigauge.plan.factors import FACTORS
from mpigauge.plan.patterns import (
    NONE,
    Mode,
    Pattern,
    Sampling,
    Volumes,
    baselines,
    blocks_of,
    completed,
    default_mode,
    known,
    representative_mode,
    times_alone,
)
from mpigauge.vocabulary import IMPORTED, SYNCS
from tests.places import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from msgspec import Struct

HOUSE = ROOT / "src" / "mpigauge"
SPEAK_OF_PATTERNS = {"cli", "doctor", "formats", "importers", "result"}
"""Folders that name some: what users and other programs call them, and what records are of."""

REGISTRIES = {"suites.py", "benchmarks.py"}
"""What a default run measures, and what other benchmarks call it: lists that must name patterns."""


def texts_of(path: Path) -> set[str]:
    """All string literals of a module."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}


@pytest.mark.thorough
def test_no_pattern_is_named() -> None:
    # Ranks may start after a `barrier`, a history counts each `session`, and what some patterns have, or are
    # told of, has their name: these words are no patterns.
    forbidden = set(names.patterns()) - {*SYNCS, "session", *TOPICS, *map(attrgetter("has"), FACTORS)}
    assert len(forbidden) > 20
    asking = [path for path in HOUSE.rglob("*.py") if path.name not in REGISTRIES]
    asking = [path for path in asking if path.relative_to(HOUSE).parts[0] not in SPEAK_OF_PATTERNS]
    found = {str(path.relative_to(HOUSE)): texts_of(path) & forbidden for path in asking}
    assert {path: words for path, words in found.items() if words} == {}


# ---- What is kept of the kernel's words ----------------------------------------------------------


def test_the_description_has_the_patterns_of_the_sources() -> None:
    listed = (kernel.SOURCES / "patterns" / "patterns.def").read_text(encoding="ascii")
    for name, file in zip(
        names.patterns(), re.findall(r"^MG_PATTERN\((\w+)\)", listed, re.MULTILINE), strict=True
    ):
        text = (kernel.SOURCES / "patterns" / f"{file}.c").read_text(encoding="ascii")
        assert re.search(rf'\.name\s+= "{name}"', text), "make docs writes describe.json anew"


@pytest.mark.parametrize(
    ("of", "kind", "parts"), [("modes", Mode, set()), ("patterns", Pattern, {"modes", "sampled", "volumes"})]
)
def test_what_the_kernel_explains_of_itself_is_known(of: str, kind: type[Struct], parts: set[str]) -> None:
    """But for two that only it needs; parts are explained by their own types."""
    explained = set(json.loads(names.DESCRIPTION.read_bytes())["traits"][of])
    fields = set(kind.__struct_fields__)
    assert fields - explained == parts
    assert explained - fields <= {"trips", "least_ns"}


@pytest.mark.parametrize("pattern", known().values(), ids=lambda pattern: pattern.name)
def test_a_description_is_complete(pattern: Pattern) -> None:
    assert pattern.family
    assert pattern.sampled != Sampling()
    assert pattern.modes
    assert pattern.talks == any(pattern.volumes.wire) or not pattern.moves_bytes
    assert bool(pattern.bus) == any(pattern.volumes.bus)
    computes = (mode.computes_first or mode.work_times > 1 for mode in pattern.modes)
    in_part = pattern.overhead or any(computes)
    timed_whole = not in_part and pattern.family != "startup"
    assert (pattern.moves_bytes and timed_whole) == any(pattern.volumes.operation)
    for volume in (pattern.volumes.sent, pattern.volumes.received, pattern.volumes.operation):
        assert blocks_of(volume, 1) in {0, 0.5, 1, 2}
        assert blocks_of(volume, 0) in {0, 0.5, 1, 2}


def test_baselines_are_of_memory() -> None:
    assert next(iter(baselines())) == "kappa"
    assert all(known()[pattern].in_memory for pattern, _ in baselines().values())


def test_what_has_nothing_to_compare_is_known() -> None:
    """All others say of each visit whether what came was right."""
    found = {
        (pattern.name, {mode.compares for mode in pattern.modes} == {True}) for pattern in known().values()
    }
    uncompared = {"null", "eager", "barrier", "empty-epoch", "win_create", "cacheline"}
    assert {name for name, compared in found if not compared} == uncompared


@pytest.mark.parametrize("pattern", ["put", "get", "accumulate", "get_accumulate", "empty-epoch"])
def test_a_time_in_which_the_target_takes_part_says_so(pattern: str) -> None:
    own = known()[pattern]
    assert "rank 1 waits in MPI" in own.time_of_mode("lock")
    assert "both ranks take part" in own.time_of_mode("fence")
    assert own.mode("pscw") is None or own.time_of_mode("pscw").endswith("half of both")


# ---- Older files ---------------------------------------------------------------------------------


@pytest.mark.parametrize("pattern", known().values(), ids=lambda pattern: pattern.name)
def test_what_older_kernels_did_not_say_is_filled_in(pattern: Pattern) -> None:
    bare = tuple(
        replace(mode, needs_mpi=0, never_eager=False, baseline="", instead_of="", scratch=NONE)
        for mode in pattern.modes
    )
    of_call = replace(pattern, overhead="", family="", one_way=False)
    old = replace(of_call, sampled=Sampling(), volumes=Volumes(), modes=bare)
    assert completed(old) == pattern
    assert completed(pattern) is pattern


def test_of_what_others_have_measured_only_the_family_is_known() -> None:
    own = known()["gather"]
    theirs = replace(own, family="", sampling=IMPORTED, sampled=Sampling(), volumes=Volumes())
    assert completed(theirs).family == "collective"
    assert completed(theirs).sampled == Sampling()
    assert completed(theirs).volumes == Volumes()
    assert completed(replace(theirs, name="unheard of")).family == ""


def imported(name: str, *modes: str) -> Pattern:
    """A pattern as importers write it: of ours nothing but the name, and modes in the order of a text."""
    own = known()[name] if name in known() else known()["pingpong"]
    bare = [replace(own.modes[0], name=mode, overlaps=mode == "overall") for mode in modes]
    return replace(own, name=name, sampling=IMPORTED, modes=tuple(bare))


@pytest.mark.parametrize("name", known())
def test_the_usual_mode_of_ours_is_the_kernels_first_in_whatever_order_a_text_has_them(name: str) -> None:
    modes = [mode.name for mode in known()[name].modes]
    assert default_mode(imported(name, *modes[::-1])) == modes[0]
    assert representative_mode(imported(name, *modes[::-1]), modes[::-1]) == modes[0]


def test_what_was_not_measured_in_the_usual_mode_stands_by_the_operation_alone() -> None:
    allreduce = imported("allreduce", "overlap", "nonblocking")
    assert representative_mode(allreduce, ["overlap", "nonblocking"]) == "nonblocking"
    assert representative_mode(allreduce, ["overlap"]) == "overlap"
    assert not times_alone(allreduce, "overlap"), "known of ours, even where a file does not say it"


def test_of_others_what_says_how_it_was_done_is_not_usual() -> None:
    theirs = imported("osu_x", "overall", "pure")
    assert default_mode(theirs) == ""
    assert default_mode(imported("osu_y", "device-device", "standard")) == "standard"
    assert not times_alone(theirs, "overall")
    assert times_alone(theirs, "pure")
