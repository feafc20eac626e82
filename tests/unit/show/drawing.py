"""A result of every family to be drawn, and what a drawn figure has in it."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace

from mpigauge.query.query import Query, source_of
from mpigauge.result.reader import load
from mpigauge.result.records import Eager, End, Imported, Visit
from mpigauge.show.figures import KINDS, figure
from tests.made import (
    campaign,
    cell,
    collective,
    launches_of,
    measured,
    written,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mpigauge.plan.model import Cell
    from mpigauge.result.records import Record
    from tests.conftest import Cli

SVG = "{http://www.w3.org/2000/svg}"
NAMES = (
    "(line|points|band|bars|errors|eager|cache|least|shape|median|range|first|warmup|samples|launch|"
    "latency|rate)-"
)
SIZES = (0, 8, 64, 1024, 8192, 65536)
MISSING = 64
"""Of buffered messages, planned and not measured."""

LIMIT_BYTES = 4000
LAUNCHES = (1, 2, 3)
MODES, TRANSPORTS = ("standard", "buffered"), ("shm", "tcp")


def law_ns(of: Cell) -> int:
    """What a round trip takes in the first launch."""
    slow = {"standard": 1000, "buffered": 1300, "O3": 200, "blocking": 2000}[of.mode]
    return slow * (1 if of.transport == "shm" else 5) + of.bytes * (2 if of.pattern == "pingpong" else 1)


def messages() -> list[Cell]:
    return [
        cell(size=size, mode=mode, transport=transport)
        for transport in TRANSPORTS
        for mode in MODES
        for size in SIZES
    ]


def copies() -> list[Cell]:
    return [cell("memcpy", size, transport="shm") for size in SIZES[1:]]


def reductions() -> list[Cell]:
    return [collective(size=size, ranks=ranks, transport="shm") for ranks in (2, 4) for size in (8, 1024)]


def samples_ns(of: Cell, number: int) -> list[int]:
    """Six, a little longer in every launch."""
    if of.mode == "buffered" and of.bytes == MISSING:
        return []
    return [round(law_ns(of) * (1 + 0.01 * number) * share) for share in (0.98, 1, 1, 1, 1.02, 1.5)]


def visits_of(cells: Iterable[Cell]) -> list[Visit]:
    """The last sample of those that start together was late."""
    visits = measured(cells, LAUNCHES, samples_ns)
    return [replace(one, late=[5]) if one.cell.sync else one for one in visits]


def whole() -> list[Record]:
    """A result that most kinds can be drawn of."""
    limit = cell("eager", 65536, transport="shm")
    cells = [*messages(), *copies(), *reductions()]
    eager = Eager(
        1,
        9,
        limit,
        found=True,
        control_held=True,
        limit_bytes=LIMIT_BYTES,
        longer_bytes=LIMIT_BYTES,
        max_bytes=65536,
        probes=3,
    )
    return [
        campaign(*cells, limit),
        *launches_of(cells, LAUNCHES),
        *visits_of(cells),
        eager,
        End("launches", 1.0, ""),
    ]


def svg(cli: Cli, *words: object) -> dict[str, ET.Element]:
    """The named elements of a figure."""
    done = cli("plot", *words, "-o", "figure.svg")
    assert (done.status, done.out) == (0, ""), done.err
    assert done.err == "figure: figure.svg\n"
    return named(Path("figure.svg"))


def named(path: Path) -> dict[str, ET.Element]:
    """Elements by the names that we give, not by those of matplotlib."""
    root = ET.parse(path).getroot()  # noqa: S314 - our own file
    return {
        one.attrib["id"]: one for one in root.iter(f"{SVG}g") if re.match(NAMES, one.attrib.get("id", ""))
    }


def marks(element: ET.Element) -> int:
    """How many markers there are in an element."""
    return sum(1 for _ in element.iter(f"{SVG}use"))


def strokes(element: ET.Element) -> int:
    """How many lines there are in an element."""
    return sum(1 for _ in element.iter(f"{SVG}path"))


def count(found: dict[str, ET.Element], start: str) -> int:
    return sum(1 for name in found if re.match(rf"{start}-\d", name))


def points(found: dict[str, ET.Element], start: str = "points") -> list[int]:
    return [marks(found[name]) for name in sorted(found) if re.match(rf"{start}-\d+", name)]


def svg_text(path: str = "figure.svg") -> str:
    return Path(path).read_text(encoding="utf-8")


def texts(path: str = "figure.svg") -> list[str]:
    """All text of a figure: it is text, not shapes."""
    root = ET.parse(path).getroot()  # noqa: S314
    return ["".join(one.itertext()).strip() for one in root.iter(f"{SVG}text")]


def query(kind: str, *paths: Path, **more: Any) -> Query:
    return Query(KINDS[kind], [source_of(load(path), more.get("stat", "median")) for path in paths], **more)


def drawn(one: Query) -> dict[str, tuple[list[float], list[float]]]:
    """Coordinates of the points of every series, by the name of their element."""
    return {
        str(line.get_gid()): (np.asarray(line.get_xdata()).tolist(), np.asarray(line.get_ydata()).tolist())
        for axes in figure(one).axes
        for line in axes.get_lines()
        if str(line.get_gid()).startswith("points-")
    }


def printed(path: str = "printed.jsonl") -> Path:
    cells = [cell(size=size, mpi="unknown", mpi_version="", transport="shm") for size in (8, 64, 1024)]
    return written(
        path, campaign(*cells), *(Imported(of, 1e-6 + of.bytes * 1e-9, 1e-7, "mean") for of in cells)
    )
