"""Messages behind a queue, in blocks and in partitions, on a fake library: asked for, measured, told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from mpigauge.campaign.remeasure import plan_for_cells
from mpigauge.plan.cells import cells_of
from mpigauge.plan.patterns import KernelDescription, known
from mpigauge.plan.sizes import parse_sizes
from mpigauge.result.reader import load
from tests.fakes.law import BLOCK_NS, ENTRY_NS, PARTITION_NS, describe, modes_of, operation_ns
from tests.places import DOCS

if TYPE_CHECKING:
    from tests.conftest import Cli
    from tests.fakes.mpi import FakeMpi

LATENCY_NS = 100
FEW = ("--launches", "6", "--samples", "40", "--seed", "7")


def rows(cli: Cli, *words: str) -> list[dict[str, Any]]:
    """The rows of a run, without the floor."""
    done = cli("run", *words, *FEW, "-o", "r.jsonl", "-q", "--format", "json")
    assert done.status == 0, done.err
    return [row for row in json.loads(done.out)["rows"] if row["pattern"] != "null"]


def law_ns(row: dict[str, Any], latency_ns: float) -> float:
    return operation_ns(row["pattern"], row["mode"], row["bytes"], 2, round(latency_ns))


def extra_ns(row: dict[str, Any], base: dict[str, Any]) -> float:
    """How much longer a cell takes than another, but for what their modes and sizes do."""
    own = law_ns(row, LATENCY_NS) - law_ns(base, LATENCY_NS)
    return float(1e9 * (row["time_s"]["estimate"] - base["time_s"]["estimate"]) - own)


def test_a_queue_is_of_each_depth_asked_for_and_takes_what_the_law_says(cli: Cli, openmpi: FakeMpi) -> None:
    found = rows(cli, "matching", "--mode", "all", "--depth", "0,16,512", "--sizes", "8")
    assert {(row["mode"], row["depth"]) for row in found} == {
        (mode, depth) for mode in modes_of("matching") for depth in (0, 16, 512)
    }
    none = {row["mode"]: row for row in found if row["depth"] == 0}
    for row in found:
        assert extra_ns(row, none[row["mode"]]) == pytest.approx(ENTRY_NS * row["depth"], rel=0.02, abs=1)


def test_without_a_depth_there_are_several_and_none_that_a_mode_cannot_have(
    cli: Cli, openmpi: FakeMpi
) -> None:
    found = rows(cli, "matching", "--mode", "posted,reversed", "--sizes", "8")
    depths = {mode: [row["depth"] for row in found if row["mode"] == mode] for mode in ("posted", "reversed")}
    assert depths == {"posted": [0, 16, 256, 4096], "reversed": [0, 16, 256]}


def test_blocks_at_a_distance_take_what_the_law_says_and_the_baseline_has_none(
    cli: Cli, openmpi: FakeMpi
) -> None:
    found = rows(cli, "layout", "--mode", "all", "--block", "8,64", "--stride", "16,128", "--sizes", "1KiB")
    strided = [row for row in found if row["block_bytes"]]
    assert {(row["block_bytes"], row["stride_bytes"]) for row in strided} == {(8, 16), (8, 128), (64, 128)}
    assert {row["mode"] for row in strided} == set(BLOCK_NS)
    (base,) = (row for row in found if row["mode"] == "contiguous")
    for row in strided:
        blocks = row["bytes"] // row["block_bytes"]
        assert extra_ns(row, base) == pytest.approx(BLOCK_NS[row["mode"]] * blocks, rel=0.02, abs=1)


def test_sizes_are_whole_blocks_and_the_baseline_has_them_all(cli: Cli, openmpi: FakeMpi) -> None:
    found = rows(cli, "layout", "--mode", "contiguous,derived,struct", "--block", "8,96", "--sizes", "1,100")
    sizes = {
        mode: {row["bytes"] for row in found if row["mode"] == mode}
        for mode in ("contiguous", "derived", "struct")
    }
    assert sizes == {"contiguous": {8, 96, 104, 192}, "derived": {8, 96, 104, 192}, "struct": {16, 112}}


@pytest.mark.parametrize(
    ("pattern", "modes", "topic"),
    [
        ("layout", ["contiguous", "derived", "pack", "manual"], "layout"),
        ("partitioned", ["whole", "persistent"], "partitioned"),
        ("early-bird", ["partitioned", "send"], "partitioned"),
        ("matching", ["posted"], "matching"),
    ],
)
def test_a_plain_pattern_measures_what_it_compares_at_few_sizes(
    cli: Cli, openmpi: FakeMpi, pattern: str, modes: list[str], topic: str
) -> None:
    found = rows(cli, pattern)
    assert [*dict.fromkeys(row["mode"] for row in found)] == modes
    sizes = {mode: {row["bytes"] for row in found if row["mode"] == mode} for mode in modes}
    assert {tuple(sorted(mine)) for mine in sizes.values()} == {parse_sizes(known()[pattern].sizes_usual)}, (
        "each mode has every size, or there is nothing to compare"
    )
    told = json.loads(cli("explain", "r.jsonl", "--format", "json").out)
    assert topic in {one["kind"] for one in told["conclusions"]}


def test_modes_and_sizes_that_are_asked_for_are_measured_alone(cli: Cli, openmpi: FakeMpi) -> None:
    found = rows(cli, "layout", "--mode", "pack", "--sizes", "1KiB,2KiB")
    assert [(row["mode"], row["bytes"]) for row in found] == [("pack", 1024), ("pack", 2048)]


def test_a_table_of_a_plan_that_names_nothing_has_the_modes_and_sizes_of_its_pattern(
    cli: Cli, openmpi: FakeMpi
) -> None:
    Path("plain.toml").write_text(
        '[[measure]]\npattern = "early-bird"\n[[measure]]\npattern = "pingpong"\n', encoding="utf-8"
    )
    text = cli("run", "--plan", "plain.toml", "--dry-run").out
    assert "early-bird partitioned 4 KiB, 64 KiB, 1 MiB, 4 MiB, 64 partitions" in text
    assert "early-bird send 4 KiB, 64 KiB, 1 MiB, 4 MiB\n" in text
    assert "pingpong standard 0 B to 4 MiB (24 sizes)" in text
    Path("sized.toml").write_text('sizes = "8"\n[[measure]]\npattern = "layout"\n', encoding="utf-8")
    assert "layout contiguous 8 B\n" in cli("run", "--plan", "sized.toml", "--dry-run").out


def test_an_option_of_some_modes_is_for_those_that_are_measured(cli: Cli, openmpi: FakeMpi) -> None:
    found = rows(cli, "layout", "--block", "8", "--stride", "16,64", "--sizes", "1KiB")
    assert [(row["mode"], row["stride_bytes"]) for row in found] == [
        ("contiguous", 0),
        *((mode, stride) for mode in ("derived", "pack", "manual") for stride in (16, 64)),
    ]


def test_partitions_divide_a_message_and_take_what_the_law_says(cli: Cli, openmpi: FakeMpi) -> None:
    found = rows(
        cli, "partitioned", "--mode", "whole,persistent", "--partitions", "1,8,64", "--sizes", "8,1KiB"
    )
    whole = {(row["bytes"], row["partitions"]): row for row in found if row["mode"] == "whole"}
    assert set(whole) == {(8, 1), (8, 8), (64, 64), (1024, 1), (1024, 8), (1024, 64)}
    base = {row["bytes"]: row for row in found if row["mode"] == "persistent"}
    assert {row["partitions"] for row in base.values()} == {0}
    for (size, number), row in whole.items():
        assert extra_ns(row, base[size]) == pytest.approx(PARTITION_NS * number, rel=0.02, abs=1)


def test_what_is_left_when_the_last_partition_is_ready_and_no_computation_is_hidden(
    cli: Cli, openmpi: FakeMpi
) -> None:
    found = rows(cli, "early-bird", "--mode", "all", "--partitions", "4", "--sizes", "4KiB")
    times = {row["mode"]: 1e9 * row["time_s"]["estimate"] for row in found}
    left, whole = LATENCY_NS + 4096 // 10 // 4, LATENCY_NS + 10 + 4096 // 10
    assert times == {"partitioned": pytest.approx(left, abs=2), "send": pytest.approx(whole, abs=2)}
    assert {row["overlap"] for row in found} == {None}
    visits = [visit for visit in load(Path("r.jsonl")).visits if visit.cell.pattern == "early-bird"]
    assert all(visit.work_ns > 0 and visit.pure_ns for visit in visits)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("layout", "--mode", "derived", "--block", "64", "--stride", "16"),
            "blocks of 64 B overlap at a stride of 16 B",
        ),
        (("pingpong", "--depth", "4"), "--depth: no pattern that is measured has it"),
        (("pingpong", "--block", "4"), "--block: no pattern that is measured has it"),
        (("pingpong", "--stride", "4"), "--stride: no pattern that is measured has it"),
        (("pingpong", "--partitions", "4"), "--partitions: no pattern that is measured has it"),
        (("layout", "--mode", "indexed", "--block", "64"), "--block: no mode that is measured has it"),
        (("matching", "--depth", "-1"), "--depth: '-1' is not a whole number from 0 to 65536"),
        (("partitioned", "--partitions", "0"), "--partitions: '0' is not a whole number from 1 to 65536"),
        (("layout", "--block", "0"), "--block: 0 B is no size of a block"),
        (("layout", "--buffers", "cold"), "layout contiguous reuses the same buffers in every call"),
    ],
)
def test_what_cannot_be_is_refused(cli: Cli, openmpi: FakeMpi, words: tuple[str, ...], said: str) -> None:
    done = cli("run", *words, "--dry-run")
    assert done.status == 2
    assert said in done.err


PLAN = """
sizes = "4KiB"
launches = 6
samples = 40
[[measure]]
pattern = "matching"
depths = [0, 512]
[[measure]]
pattern = "layout"
modes = ["contiguous", "derived", "manual", "pack"]
[[measure]]
pattern = "partitioned"
modes = ["whole", "persistent"]
partitions = [64]
"""


@pytest.fixture
def measured(cli: Cli, openmpi: FakeMpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A result of all three, of which each launch differs a little."""
    monkeypatch.setenv("FAKE_JITTER", "0.02")
    monkeypatch.setenv("FAKE_SPREAD", "0.02")
    (tmp_path / "plan.toml").write_text(PLAN, encoding="ascii")
    words = ("--plan", tmp_path / "plan.toml", "--seed", "7", "-q", "-o", "r.jsonl")
    assert cli("run", *words).status == 0


def test_what_queues_blocks_and_partitions_cost_is_explained_as_ratios(cli: Cli, measured: None) -> None:
    found = json.loads(cli("explain", "r.jsonl", "--format", "json").out)["conclusions"]
    said = {(one["kind"], one["cells"][0]["mode"]): one["details"] for one in found}
    assert "behind 512 entries 4.0" in said["matching", "posted"]
    assert "in blocks of 8 B 2.4" in said["layout", "derived"]
    assert "in 64 partitions 1.5" in said["partitioned", "whole"]


def test_packing_that_is_faster_than_the_datatype_breaks_a_guideline(cli: Cli, measured: None) -> None:
    done = cli("check", "r.jsonl", "--guidelines")
    assert done.status == 1
    first, said, *_ = done.out.splitlines()
    assert first == "violated: 1 of 1 guidelines, of layout"
    assert "times as long as pack" in said


def test_cells_are_measured_again_with_their_depths_blocks_and_partitions(cli: Cli, measured: None) -> None:
    result = load(Path("r.jsonl"))
    cells = [cell for cell in result.campaign.cells if cell.pattern != "null"]
    plan = plan_for_cells(result.campaign.plan, cells, 2, 1)
    again = cells_of(
        plan, msgspec.convert(describe(), KernelDescription), "openmpi", "5.0.11", "the plan"
    ).cells
    assert {cell for cell in again if cell.pattern != "null"} == set(cells)


STRIDES = ("64 B, every 128 B", "512 B, every 1 KiB", "4 KiB, every 8 KiB")


def test_blocks_are_compared_whose_stride_follows_from_them(cli: Cli) -> None:
    """And each line names its blocks, also where it is shown alone."""
    words = ("compare", DOCS / "results" / "parts.jsonl.gz", "--by", "block_bytes")
    found = cli(*words, "--all").out
    assert all(f"  blocks of {size}, every" in found for size in ("64 B", "512 B", "4 KiB"))
    lines = [line for line in cli(*words).out.splitlines() if line.startswith("layout derived")]
    assert lines
    assert all(any(f"blocks of {of}" in line for of in STRIDES) for line in lines)
