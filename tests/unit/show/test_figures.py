"""Figures: each kind against the data that it shows, and the files that they are written to."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from msgspec.structs import replace

from mpigauge.document.document import Units
from mpigauge.show.figures import FORMS, KINDS, figure
from tests.histories import folder, slower_from
from tests.made import (
    campaign,
    cell,
    collective,
    in_states,
    launch,
    launches_of,
    measured,
    written,
)
from tests.unit.show.drawing import (
    LAUNCHES,
    LIMIT_BYTES,
    MODES,
    SIZES,
    count,
    law_ns,
    marks,
    named,
    points,
    query,
    strokes,
    svg,
    svg_text,
    texts,
    visits_of,
)

if TYPE_CHECKING:
    import xml.etree.ElementTree as ET

    from mpigauge.plan.model import Cell
    from mpigauge.result.records import Record
    from tests.conftest import Cli, Install
    from tests.fakes.mpi import FakeMpi

# ---- Curves, points and bars against the data ----------------------------------------------------

PINGPONG = ("--series", "pingpong shm")


def expect_curves(found: dict[str, ET.Element]) -> None:
    """Two modes of one transport, with their ratio: broken at 0 B, the eager limit and what is missing."""
    assert points(found) == [len(SIZES), len(SIZES) - 1]
    assert {name for name in found if re.match(r"line-\d", name)} == {"line-0-1", "line-0-2", "line-1-3"}
    assert {name for name in found if name.startswith("eager")} == {f"eager-{LIMIT_BYTES}"}
    assert points(found, "points-ratio") == [len(SIZES) - 1]


@pytest.mark.thorough
def test_overview(result: Path, cli: Cli) -> None:
    found = svg(cli, result, "--series", "shm")
    # Latency and bandwidth of two modes, reductions of two numbers of ranks, copies: each where it belongs.
    panels = [sorted(name for name in found if name.startswith(f"points-{panel}-")) for panel in range(5)]
    assert [len(panel) for panel in panels] == [2, 2, 2, 1, 0]
    assert {"latency, one way", "bandwidth", "time of one operation of all ranks"} <= set(texts())
    # Ratios of the modes stand below their latencies, and not again below their bandwidths.
    ratios = [name for name in found if name.startswith("points-ratio")]
    assert [name.removeprefix("points-ratio-")[0] for name in ratios] == ["0", "2"]


@pytest.mark.thorough
def test_one_sided(machine: Path, cli: Cli) -> None:
    """A line for each operation of each size, a mark for each, beside the message and the copy."""
    ways = [
        cell("put", size, mode, rma_window="allocate") for size in (8, 1024) for mode in ("flush", "lock")
    ]
    seen = cell("put-notify", 8, "flag", rma_window="allocate")
    computing = cell("progress", 8, "put", rma_window="create")
    beside = [cell(size=8), cell("memcpy", 8)]
    cells = [*ways, seen, computing, *beside]
    path = written(
        "one.jsonl", campaign(*cells), *measured(cells, LAUNCHES, lambda _, number: [1000 + number] * 30)
    )
    found = svg(cli, path, "--kind", "one-sided")
    assert sum(name.startswith("points-") for name in found) == len(cells) - 1
    assert {"8 B", "1 KiB", "seen by the target", "message, one way"} <= set(texts())


@pytest.mark.thorough
def test_ratios_are_within_one_pattern_unless_they_are_asked_for(result: Path, cli: Cli) -> None:
    named_ones = svg(cli, result, "--kind", "time", "--series", "memcpy", "--series", "pingpong shm standard")
    assert points(named_ones, "points-ratio")
    path = written("two.jsonl", *two_patterns())
    assert not points(svg(cli, path, "--kind", "time"), "points-ratio")


def two_patterns() -> list[Record]:
    """Messages and copies, of one mode each."""
    cells = [cell(pattern, size, transport="shm") for pattern in ("pingpong", "memcpy") for size in SIZES[1:]]
    return [campaign(*cells), *launches_of(cells, LAUNCHES), *visits_of(cells)]


@pytest.mark.thorough
def test_time(result: Path, cli: Cli) -> None:
    found = svg(cli, result, "--kind", "time", *PINGPONG)
    expect_curves(found)
    assert count(found, "band") == count(found, "line") == 3
    assert "break" in svg_text()


@pytest.mark.thorough
def test_rate(result: Path, cli: Cli) -> None:
    found = svg(cli, result, "--kind", "rate", *PINGPONG)
    assert points(found) == [len(SIZES) - 1, len(SIZES) - 2]
    assert count(found, "line") == 3


@pytest.mark.thorough
def test_a_time_of_zero_and_its_rate_are_off_the_axis(cli: Cli) -> None:
    """A clock that stood still: all that can be drawn is drawn."""
    cells = [cell("pingpong", size, transport="shm") for size in (8, 64, 512)]
    visits = measured(cells, LAUNCHES, lambda of, _: [0, 0, 0] if of.bytes == 64 else [1000, 1001, 999])
    path = written("zero.jsonl", campaign(*cells), *launches_of(cells, LAUNCHES), *visits)
    for kind in ("rate", "time"):
        assert points(svg(cli, path, "--kind", kind))


def test_ratio(result: Path, cli: Cli) -> None:
    found = svg(cli, result, "--kind", "ratio", *PINGPONG)
    assert points(found) == [len(SIZES) - 1]
    assert {name for name in found if re.match(r"(line|band)-\d", name)} == {"line-1-3", "band-1-3"}
    assert count(found, "bars") == 3, "what stands alone has a bar"


@pytest.mark.thorough
def test_compare(result: Path, cli: Cli) -> None:
    """Two modes in three launches have no verdict; in six, each size has a mark and a bar."""
    done = cli("plot", result, "--kind", "compare", "--by", "mode", "-o", "figure.svg")
    assert (done.status, "launches enough on both sides" in done.err) == (2, True)
    cells = [cell(size=size, mode=mode, transport="shm") for mode in MODES for size in SIZES]
    numbers = range(1, 7)
    visits = measured(cells, numbers, lambda of, number: [round(law_ns(of) * (1 + 0.01 * number))] * 6)
    path = written("six.jsonl", campaign(*cells), *launches_of(cells, numbers), *visits)
    found = svg(cli, path, "--kind", "compare")
    assert points(found) == [1] * len(SIZES)
    assert count(found, "bars") == len(SIZES)


@pytest.mark.thorough
def test_mean(result: Path, cli: Cli) -> None:
    found = svg(cli, result, "--kind", "mean", *PINGPONG)
    assert points(found) == [len(SIZES), len(SIZES) - 1]
    assert [strokes(found[name]) for name in ("errors-0", "errors-1")] == [len(SIZES), len(SIZES) - 1]
    assert count(found, "band") == 0


@pytest.mark.thorough
def test_modes(result: Path, cli: Cli) -> None:
    found = svg(cli, result, "--kind", "modes")
    panels = {"points-0-0", "points-0-1", "points-1-0", "points-1-1"}
    assert {name for name in found if re.match(r"points-\d", name)} == panels
    assert [marks(found[name]) for name in sorted(panels)] == [5, 4, 5, 4]
    assert points(found, "points-ratio") == [5 - 1, 5 - 1]


@pytest.mark.thorough
def test_placements(result: Path, cli: Cli) -> None:
    found = svg(cli, result, "--kind", "placements", "--series", "pingpong")
    assert [marks(found[f"points-{panel}-{mode}"]) for panel in (0, 1) for mode in (0, 1)] == [5, 4, 5, 4]
    assert {"shm", "tcp"} <= set(texts())


def test_ranks(result: Path, cli: Cli) -> None:
    found = svg(cli, result, "--kind", "ranks")
    assert points(found) == [2, 2]
    assert count(found, "line") == 2
    assert "crowded" in svg_text()


def test_pairs(machine: Path, cli: Cli) -> None:
    """Two pairs are to do twice what one does: they do it at 8 B, and half of that at 64 KiB."""
    cells = [
        collective("multi-stream", size, "unidirectional", ranks=ranks, window=64)
        for ranks in (2, 4)
        for size in (8, 65536)
    ]
    takes = {(2, 8): 800, (4, 8): 400, (2, 65536): 8000, (4, 65536): 8000}
    visits = measured(cells, range(1, 7), lambda of, number: [takes[of.ranks, of.bytes] + number] * 30)
    path = written("pairs.jsonl", campaign(*cells), *launches_of(cells, range(1, 7)), *visits)
    found = svg(cli, path, "--kind", "pairs")
    assert points(found) == [2, 2]
    axes = figure(query("pairs", path)).axes[0]
    drawn = {it.get_gid(): np.asarray(it.get_ydata(), dtype=float) for it in axes.get_lines()}
    for number, whole in ((0, 1.0), (1, 0.5)):
        ideal = drawn[f"ideal-{number}"]
        assert ideal[1] / ideal[0] == pytest.approx(2)
        (real,) = (drawn[name] for name in drawn if str(name).startswith(f"line-{number}"))
        assert real[1] / ideal[1] == pytest.approx(whole, rel=0.01)


PARTS = [
    *(cell("matching", 8, "posted", depth=depth) for depth in (0, 16, 512)),
    *(
        cell("layout", 4096, mode, block_bytes=block, stride_bytes=2 * block)
        for mode in ("derived", "manual")
        for block in (8, 512)
    ),
    cell("layout", 4096, "contiguous"),
    *(cell("partitioned", 4096, "whole", partitions=number) for number in (1, 8)),
]


def test_parts(cli: Cli) -> None:
    """A panel per factor, in which what has none of it, such as one block, has no place."""

    def samples_ns(of: Cell, launch: int) -> list[int]:
        return [1000 + of.depth + of.block_bytes + of.partitions + launch] * 30

    numbers = range(1, 7)
    path = written(
        "parts.jsonl", campaign(*PARTS), *launches_of(PARTS, numbers), *measured(PARTS, numbers, samples_ns)
    )
    found = svg(cli, path, "--kind", "parts")
    assert points(found) == [3, 2, 2, 2]
    assert {"queue depth", "block", "partitions"} <= set(texts())
    assert {"0", "16", "512", "8 B", "512 B", "1", "8"} <= set(texts())


@pytest.mark.thorough
def test_memory(result: Path, cli: Cli) -> None:
    found = svg(cli, result, "--kind", "memory", "--series", "shm standard")
    assert points(found) == [len(SIZES) - 1] * 2
    assert {name for name in found if name.startswith("cache")} == {"cache-32768"}
    assert "half of L1 claimed (32 KiB)" in texts()
    whole = figure(query("memory", result, series=("shm standard",)))
    (line,) = [it for it in whole.axes[0].get_lines() if it.get_gid() == "cache-32768"]
    assert np.asarray(line.get_xdata()).tolist() == [16384, 16384], "a copy has its bytes twice"


def test_memory_ratio(result: Path, cli: Cli) -> None:
    found = svg(cli, result, "--kind", "memory-ratio", "--series", "standard")
    assert points(found) == [len(SIZES) - 1]
    assert count(found, "least") == 1
    assert any(text.endswith("least 1.01 at 8 B") for text in texts()), texts()


@pytest.mark.thorough
def test_distribution(result: Path, cli: Cli) -> None:
    found = svg(cli, result, "--kind", "distribution", *PINGPONG)
    assert count(found, "shape") == count(found, "median") == count(found, "range") == 2 * len(SIZES) - 1


def test_samples(result: Path, cli: Cli) -> None:
    found = svg(cli, result, "--kind", "samples", "--series", "pingpong shm standard", "--sizes", "8")
    assert marks(found["samples-0"]) == 6 * len(LAUNCHES)
    assert marks(found["warmup-0"]) == marks(found["first-0"]) == 2 * len(LAUNCHES)
    assert count(found, "launch") == len(LAUNCHES)


@pytest.mark.thorough
def test_cpu(result: Path, cli: Cli) -> None:
    found = svg(cli, result, "--kind", "cpu", *PINGPONG)
    assert points(found) == points(found, "points-share") == [len(SIZES), len(SIZES) - 1]


def test_skew(result: Path, cli: Cli) -> None:
    found = svg(cli, result, "--kind", "skew")
    assert points(found) == points(found, "points-p99") == points(found, "points-late") == [2, 2]


def test_overlap(cli: Cli, openmpi: FakeMpi) -> None:
    assert openmpi
    words = ("message-overlap", "--mode", "both,sender", "--sizes", "8,64KiB", "--launches", 6)
    assert cli("run", *words, "-o", "moving.jsonl").status == 0
    done = cli("plot", "moving.jsonl", "-o", "figure.svg")
    assert done.status == 0, done.err
    found = named(Path("figure.svg"))
    assert points(found) == [2, 2]
    assert {"0 %", "50 %", "100 %"} & set(texts())


@pytest.mark.thorough
def test_map(cli: Cli, fake_mpi: Install) -> None:
    fake_mpi()
    assert cli("map", "--np", 4, "--launches", 3, "-o", "map.jsonl").status in {0, 5}
    done = cli("plot", "map.jsonl", "--kind", "map", "-o", "map.svg")
    assert done.status == 0, done.err
    shown = {text for text in texts("map.svg") if text.startswith(("latency", "bandwidth"))}
    assert shown == {"latency of 8 B", "bandwidth of 1 MiB"}
    found = named(Path("map.svg"))
    assert count(found, "latency") == count(found, "rate") == 4 * 3, "both ways of every pair"


@pytest.mark.thorough
def test_states(machine: Path, cli: Cli) -> None:
    small, large = cell(size=8), cell(size=65536)
    course = [["near", "near", "near-far", "far", "far"]] * 3
    times_ns = {"near": 300, "far": 1000}
    visits = [*in_states((small, large), course, lambda of, state, _: [times_ns[state] + of.bytes] * 3)]
    path = written("states.jsonl", campaign(small, large), *map(launch, (1, 2, 3)), *visits)
    done = cli("plot", path, "--kind", "states", "-o", "figure.svg")
    assert done.status == 0, done.err
    text = svg_text()
    assert "arithmetic" not in texts()
    for name in ("distance-near", "distance-far", "distance-none", "times-near", "times-far"):
        assert f'id="{name}"' in text
    shown = " ".join(texts())
    assert "near: a cache line takes 40.0 ns" in shown
    assert "changed within the visit" in shown
    assert "8 B; a point per visit" in shown
    assert cli("plot", path, "--kind", "states", "--sizes", "8,64KiB", "-o", "figure.svg").status == 0
    assert "time / median of the cell" in texts()
    known = [replace(one, alu_ns=[1735.0, 1896.0]) for one in visits]
    path = written("speeds.jsonl", campaign(small, large), *map(launch, (1, 2, 3)), *known)
    assert cli("plot", path, "--kind", "states", "-o", "figure.svg").status == 0
    assert 'id="speed-near"' in svg_text()
    assert "arithmetic" in texts()


@pytest.mark.thorough
def test_history(machine: Path, cli: Cli) -> None:
    """A panel per cell, the worst of those of which the same is said; changes are marked where they are."""
    files = sorted(folder("results", 12, slower_from(7, 1.12, 1024), switch=7).iterdir())
    done = cli("plot", *files, "--kind", "history", "-o", "figure.svg")
    assert done.status == 0, done.err
    text = svg_text()
    for name in ("points-0", "band-0", "change-0-7", "points-1", "band-1"):
        assert f'id="{name}"' in text
    assert 'id="change-1-7"' not in text
    assert any(one.endswith("times as long, Open MPI 5.0.7 -> 5.0.8") for one in texts())


def test_every_kind_has_a_test() -> None:
    assert {name.replace("-", "_") for name in KINDS} <= {
        name.removeprefix("test_") for name in globals() if name.startswith("test_")
    }


# ---- Files ---------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("ending", FORMS)
def test_every_form_is_written_and_the_same_again(result: Path, cli: Cli, ending: str) -> None:
    starts = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}
    for name in ("one", "two"):
        assert cli("plot", result, "--series", "pingpong shm", "-o", name + ending).status == 0
    one, two = (Path(name + ending).read_bytes() for name in ("one", "two"))
    assert one.startswith(starts[ending])
    assert one == two
    if ending == ".pdf":  # with fonts that any printer has
        assert b"/FontFile2" in one
        assert b"/Type3" not in one


@pytest.mark.thorough
def test_units_are_on_the_axis(result: Path, cli: Cli) -> None:
    svg(cli, result, "--kind", "rate", "--unit", "Mbit/s", "--series", "pingpong shm")
    assert "bandwidth (Mbit/s)" in texts()
    assert {"0 B", "1 KiB"} & set(texts())


@pytest.mark.parametrize("linear", [False, True])
def test_ticks_are_round_in_the_unit_of_the_axis(result: Path, linear: bool) -> None:
    asked = query("rate", result, series=("pingpong shm",), linear=linear, units=Units("auto", "Mbit/s"))
    ticks = [float(label.get_text()) for label in figure(asked).axes[0].get_yticklabels()]
    steps = np.diff(ticks) if linear else ticks
    heads = {float(f"{step / 10 ** np.floor(np.log10(step)):.3g}") for step in steps}
    assert heads <= {1, 2, 2.5, 5}
    assert len(ticks) >= 2


def test_the_list_of_kinds_is_the_registry(cli: Cli) -> None:
    said = json.loads(cli("list", "plots", "--format", "json").out)["plots"]
    assert [one["name"] for one in said] == list(KINDS)
    assert all(one["about"] and one["needs"] for one in said)
    text = cli("list", "plots").out
    assert all(name in text for name in KINDS)
    assert all(name in cli("plot", "--help").out for name in KINDS)
