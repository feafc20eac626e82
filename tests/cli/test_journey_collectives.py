"""Collectives, memory, and more ranks than cores, on fakes whose law is known."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.result.environment import cores_allowed
from mpigauge.result.reader import load
from mpigauge.units import parse_size
from tests.cli.journey import (
    TOGETHER,
    by_factors,
    rows_of,
    states,
)
from tests.fakes.law import CACHES, DATATYPES, MAIN_MEMORY_NS, operation_ns, operations_of

if TYPE_CHECKING:
    from tests.conftest import Cli, Install
    from tests.fakes.mpi import FakeMpi


# ---- Collectives and memory ----------------------------------------------------------------------


@pytest.mark.thorough
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
        assert (row["skew_p50_s"], row["skew_p99_s"]) == pytest.approx((skew_s, skew_s))
        assert ("skewed" in row["warnings"]) == (sync == "barrier")
        assert row["late_share"] == 0
        assert row["bus_bytes_per_s"] == pytest.approx(2 * (ranks - 1) / ranks * size / one_s)
        assert (row["cpu_s_per_op"] is None) == (sync == "barrier")
        assert (row["clock_shared"], row["clock_error_s"]) == (True, 0)


def test_operations_in_a_row_are_the_mean_of_as_many_as_the_clock_needs(cli: Cli, openmpi: FakeMpi) -> None:
    words = ("--mode", "blocking,blocks", "--sizes", "8,64KiB", "--launches", "2", "-o", "r.jsonl")
    done = cli("run", "allreduce", "bcast", *words, "--format", "json")
    for pattern in ("allreduce", "bcast"):
        for row in by_factors(done, pattern).values():
            assert row["time_s"]["estimate"] == pytest.approx(row["root_s"]) == pytest.approx(row["local_s"])
            assert row["skew_p50_s"] == pytest.approx(5e-9)
    batches = {(one.cell.mode, one.cell.bytes): one.ops for one in load(Path("r.jsonl")).visits}
    assert batches["blocking", 8] == batches["blocking", 65536] == batches["blocks", 65536] == 1
    assert batches["blocks", 8] > 1


def test_a_table_tells_the_factors_of_its_curves(cli: Cli, openmpi: FakeMpi) -> None:
    words = ("--sizes", "8", "--sync", "mpi_barrier,common", "--datatype", "int32", "--op", "max")
    done = cli("run", "reduce", *words, "--root", "1,rotating", "--in-place", "--launches", "1")
    assert done.status == 0
    text = cli("show", "--all").out
    for root in ("root 1", "rotating root"):
        title = "reduce, blocking \N{MIDDLE DOT} Open MPI 5.0.11 \N{MIDDLE DOT} 2 ranks"
        assert f"{title} \N{MIDDLE DOT} max of int32 \N{MIDDLE DOT} {root} \N{MIDDLE DOT} in place" in text
    assert text.count("ranks start by MPI_Barrier, within 250 ns (median), 250 ns (p99)") == 2
    assert text.count("ranks start by a common time, within 5.00 ns (median)") == 2
    assert "verified to 50.0 ns" in text


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
    assert "of rounds late" in text
    assert "late-starts: bcast, 64 B" in text


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
    head = cli("show", "--all", "r.jsonl").out.partition("\n\n")[0]
    assert "off by up to 70.0 ns" in head
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
    assert "50 %" in cli("show", "--all", "r.jsonl").out


def test_messages_are_measured_in_copies(cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch) -> None:
    """What slows a whole launch slows copies as well, and cancels."""
    monkeypatch.setenv("FAKE_SPREAD", "0.3")
    Path("plan.toml").write_text(
        'launches = 3\nsizes = "8,16KiB,1MiB"\n'
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
    assert "pingpong / crosscopy: " in notes
    assert "above one cache-line transfer (" in notes


def test_the_levels_of_the_memory_are_told(cli: Cli, openmpi: FakeMpi) -> None:
    done = cli("run", "chase", "--sizes", "1KiB:64MiB*1.3", "--launches", "1", "-o", "r.jsonl")
    assert done.status == 0
    (line,) = [
        line
        for line in cli("show", "--all", "r.jsonl").out.splitlines()
        if line.startswith("cache levels seen (")
    ]
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


@pytest.mark.thorough
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
    text = cli("show", "--all", "r.jsonl").out
    assert f"{CROWD} ranks \N{MIDDLE DOT} oversubscribed" in text
    assert "sharing cores" in text


def variables_seen(fake: FakeMpi) -> Path:
    """A log to which the launcher of a library will add what it was started with."""
    log = fake.prefix / "variables"
    program = (fake.bin / "mpiexec").read_text(encoding="utf-8")
    note = f'\nimport os\nopen({str(log)!r}, "a").write(repr((sys.argv[2], dict(os.environ))) + "\\n")\n'
    (fake.bin / "mpiexec").write_text(program.replace("\nmpiexec.", note + "mpiexec.", 1), encoding="utf-8")
    return log


@pytest.mark.thorough
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
    told = {launch.job.ranks: launch.variables for launch in load(Path("r.jsonl")).launches}
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
