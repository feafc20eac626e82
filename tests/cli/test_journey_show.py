"""A result of every pattern, every way of showing it, and the verbs that measure nothing; on fakes."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from mpigauge.mpi import find, kernel
from mpigauge.plan.patterns import KERNEL_VERSION, Lacking
from mpigauge.show.columns import EXTRA_COLUMNS
from mpigauge.show.formats import EVERY, GENERAL
from mpigauge.stats.limits import PROMISED
from tests.cli.journey import (
    MEASURE,
    TIMED,
    estimates_ns,
    rows_of,
)
from tests.fakes.kernel import EAGER_LIMIT_BYTES
from tests.fakes.law import FLOOR_NS, PATTERNS, modes_of, operation_ns, parts_ns, seen_of_work_ns

if TYPE_CHECKING:
    from tests.conftest import Cli
    from tests.fakes.mpi import FakeMpi


# ---- A result, and every way of showing it -------------------------------------------------------


@pytest.mark.thorough
def test_the_table_tells_the_law(measured: Path, cli: Cli) -> None:
    rows = rows_of(cli("show", measured, "--format", "json"))
    times = estimates_ns(rows)
    assert times["pingpong", 1024] == pytest.approx(202)
    assert times["ring", 8] == pytest.approx(200)
    for (pattern, mode, size, ranks, _), row in rows.items():
        if pattern == "eager":
            continue
        call_ns = round(operation_ns(pattern, mode, size, ranks, 100) + parts_ns(row))
        one_s = (call_ns + seen_of_work_ns(row, call_ns)) * 1e-9
        traits = PATTERNS[pattern]
        (of,) = (known for known in traits["modes"] if known["name"] == mode)
        sampling, active = traits["sampling"], traits["active_ranks"]
        blocks = ranks if (traits["send_each"] or traits["recv_each"]) and not traits["windowed"] else 1
        # Two neighbours of every rank; round trips of all pairs count together.
        blocks = {"neighbours": 2, "multi-pingpong": ranks // 2}.get(pattern, blocks)
        assert row["status"] == "ok"
        assert row["time_s"]["estimate"] == pytest.approx(one_s)
        # What a clock of whole nanoseconds hides of 2 operations and more per sample, and the instrument.
        short = min(5e-9 / one_s, 0.1) if traits["family"] == "one-sided" else 0.0
        reach = math.exp(math.hypot(PROMISED, short))
        assert row["time_s"]["low"] == pytest.approx(one_s / reach, rel=1e-4, abs=0.5e-9)
        assert row["time_s"]["high"] == pytest.approx(one_s * reach, rel=1e-4, abs=0.5e-9)
        assert row["time_s"]["low"] < row["time_s"]["high"]
        assert row["launches"] == 2
        assert row["samples"] % 2 == 0
        if sampling in {"prepared", "acked"} or of["target_waits"]:
            assert row["cpu_s_per_op"] is None
        else:
            assert row["cpu_s_per_op"] == pytest.approx((active or ranks) * one_s)
        assert row["first_s"] == pytest.approx(2 * call_ns * 1e-9)
        if not traits["moves_bytes"] or not any(traits["volumes"]["operation"]) or size == 0:
            assert row["rate_bytes_per_s"] is None
        else:
            assert row["rate_bytes_per_s"] == pytest.approx(of["directions"] * blocks * size / one_s)
        # Between two ranks every bus bandwidth is one of one block.
        on_the_bus = traits["bus"] and size > 0
        assert row["bus_bytes_per_s"] == (pytest.approx(size / one_s) if on_the_bus else None)
        assert (row["skew_p50_s"] is None) == (not traits["sampled"]["starts_together"])
    assert rows["eager", "standard", 1024, 2, "openmpi"]["limit_bytes"] == EAGER_LIMIT_BYTES
    assert {key[0] for key in rows} == set(PATTERNS)


@pytest.mark.thorough
def test_numbers_for_programs_say_what_stands_for_a_launch(measured: Path, cli: Cli) -> None:
    """Without it a table of 99th percentiles would be taken for one of medians."""
    for words, stat in (((), "median"), (("--stat", "p99"), "p99")):
        context = json.loads(cli("show", measured, "--format", "json", *words).out)["context"]
        assert (context["statistic"], context["seconds"] > 0) == (stat, True)
        lines = csv.DictReader(io.StringIO(cli("show", measured, "--format", "csv", *words).out))
        assert {line["statistic"] for line in lines} == {stat}
        assert (
            f": {stat} of each launch, geometric mean over 2 launches;"
            in cli("show", measured, "--format", "osu", *words).out
        )


@pytest.mark.thorough
@pytest.mark.parametrize("form", GENERAL)
def test_every_format_shows_every_curve(measured: Path, cli: Cli, form: str) -> None:
    done = cli("show", measured, "--format", form, "--columns", "all", "--unit", "ns")
    assert (done.status, done.err) == (0, "")
    assert all(pattern in done.out for pattern in TIMED)
    assert str(EAGER_LIMIT_BYTES) in done.out


@pytest.mark.thorough
def test_text_and_csv_hold_the_numbers_of_the_law(measured: Path, cli: Cli) -> None:
    assert "202 ns" in cli("show", measured, "--all").out
    assert f"{FLOOR_NS}.0 ns per sample" in cli("show", measured, "--all").out
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
    expected = {mode: (106 + 10 * number) * 1e-9 for number, mode in enumerate(modes_of("pingpong"))}
    assert times == pytest.approx(expected)


# ---- The other verbs -----------------------------------------------------------------------------


def test_lists_are_those_of_the_registries(cli: Cli, openmpi: FakeMpi) -> None:
    def names(thing: str) -> list[str]:
        return [entry["name"] for entry in json.loads(cli("list", thing, "--format", "json").out)[thing]]

    assert names("patterns") == list(PATTERNS)
    assert names("mpis") == ["openmpi"]
    assert names("formats") == list(EVERY)
    assert names("columns") == list(EXTRA_COLUMNS)
    assert "pingpong" in cli("list").out
    assert str(openmpi.mpicc) in cli("list", "mpis").out


def test_a_mode_that_the_library_lacks_is_listed_with_what_it_needs(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    lacking = (Lacking("partitioned", "whole", "MPI_Psend_init of MPI 4"),)
    described = replace(kernel.describe(find.find_default()), lacking=lacking)
    monkeypatch.setattr(kernel, "describe", lambda _: described)
    assert "needs MPI_Psend_init of MPI 4" in " ".join(cli("list").out.split())
    listed = json.loads(cli("list", "--format", "json").out)["patterns"]
    lacks = {(one["name"], mode["name"]): mode["lacks"] for one in listed for mode in one["mode_details"]}
    assert [of for of, calls in lacks.items() if calls] == [("partitioned", "whole")]


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


@pytest.mark.parametrize(
    "words",
    [
        ("show", "{long}"),
        ("plot", "{long}"),
        ("map", "kept.jsonl", "--figure", "{long}/map.svg"),
        ("mpi", "add", "mpich", "--wheels", "{long}"),
    ],
)
def test_a_name_that_no_file_can_have_is_refused_in_words(cli: Cli, words: tuple[str, ...]) -> None:
    done = cli(*(word.format(long="a" * 300) for word in words))
    assert done.status == 2
    assert "mpigauge: " in done.err
    assert "Traceback" not in done.err
