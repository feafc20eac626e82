"""`mpigauge model`, the whole way on the fake kernel: parameters of a known law, predictions, refusals."""

from __future__ import annotations

import csv
import json
from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.errors import EXIT_DONE, EXIT_UNDECIDED, EXIT_USAGE

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Cli, Done, Install

SIZES = "0:256KiB"
LATENCY_S, BETA = 300e-9, 1e-10
"""Of the fake kernel: `tests/fakes/law.py`."""

COLUMNS = """
title = "theirs"
pattern = "pingpong"

bytes = { column = "bytes" }
time = { column = "us", unit = "us" }
"""


def modelled(done: Done, status: int = EXIT_DONE) -> list[dict[str, Any]]:
    """The curves of a model as JSON has them."""
    assert done.status == status, done.err
    found: list[dict[str, Any]] = json.loads(done.out)["curves"]
    return found


@pytest.fixture
def result(cli: Cli, fake_mpi: Install, monkeypatch: pytest.MonkeyPatch) -> str:
    """A curve of 20 sizes, of a library with a latency of 300 ns and a little noise."""
    fake_mpi("mpich", "5.0.2", latency_ns=300)
    monkeypatch.setenv("FAKE_JITTER", "0.02")
    words = ("pingpong", "--sizes", SIZES, "--launches", "5", "--seed", "3", "-q", "-o", "r.jsonl")
    assert cli("run", *words).status == EXIT_DONE
    return "r.jsonl"


def test_the_law_of_the_kernel_is_found(cli: Cli, result: str) -> None:
    (one,) = modelled(cli("model", result, "--format", "json"))
    (segment,) = one["segments"]
    for name, truth in (("alpha_s", LATENCY_S), ("beta_s_per_byte", BETA), ("bandwidth_bytes_per_s", 1e10)):
        assert segment[name]["value"] == pytest.approx(truth, rel=0.05)
        assert segment[name]["low"] <= segment[name]["value"] <= segment[name]["high"]
    assert one["breaks"] == []
    assert one["misfit"] < 0.02
    assert not one["hockney"]["apparent"]
    assert one["hockney"]["n_half_bytes"]["value"] == pytest.approx(LATENCY_S / BETA, rel=0.1)
    assert one["textbook"]["latency_s"]["value"] == pytest.approx(LATENCY_S, rel=0.3)


def test_a_size_that_was_not_measured_is_predicted(cli: Cli, result: str) -> None:
    """And comes out so when it is measured."""
    asked = ("--predict", "3KiB,8", "--predict", "512KiB", "--predict", "8")
    (one,) = modelled(cli("model", result, *asked, "--format", "json"))
    bases = {each["bytes"]: each["basis"] for each in one["predictions"]}
    assert bases == {3072: "interpolated", 8: "measured", 2**19: "extrapolated"}
    words = ("--sizes", "3KiB,512KiB", "--launches", "3", "-q", "-o", "more.jsonl")
    assert cli("run", "pingpong", *words).status == EXIT_DONE
    rows = json.loads(cli("show", "more.jsonl", "--all", "--format", "json").out)["rows"]
    times = {row["bytes"]: row["time_s"]["estimate"] for row in rows if row["pattern"] == "pingpong"}
    for each in one["predictions"]:
        if each["bytes"] in times:
            assert each["low_s"] <= times[each["bytes"]] <= each["high_s"]


def test_a_size_far_beyond_all_others_has_a_time_and_no_interval(cli: Cli, result: str) -> None:
    (one,) = modelled(cli("model", result, "--predict", "1MiB", "--format", "json"))
    (told,) = one["predictions"]
    assert told["time_s"] == pytest.approx(LATENCY_S + BETA * 2**20, rel=0.05)
    assert {told[name] for name in ("low_s", "high_s", "mean_low_s", "mean_high_s")} == {None}
    assert (told["basis"], told["no_interval"]) == ("extrapolated", "far")
    text = cli("model", result, "--predict", "1MiB").out
    assert "extrapolated, no interval: beyond twice 256 KiB, the largest size" in text


def test_measured_times_have_the_interval_that_tables_have(cli: Cli, result: str) -> None:
    (one,) = modelled(cli("model", result, "--predict", "8", "--format", "json"))
    (told,) = one["predictions"]
    rows = json.loads(cli("show", result, "--all", "--format", "json").out)["rows"]
    (row,) = (row for row in rows if (row["pattern"], row["bytes"]) == ("pingpong", 8))
    shown = [row["time_s"][name] for name in ("estimate", "low", "high")]
    assert [told[name] for name in ("time_s", "mean_low_s", "mean_high_s")] == pytest.approx(shown)


@pytest.mark.thorough
def test_people_read_the_same(cli: Cli, result: str) -> None:
    done = cli("model", result, "--predict", "3KiB,1MiB")
    assert done.status == EXIT_DONE
    assert done.out.startswith("pingpong, standard: 1 segment, alpha 30")
    for words in ("parameters of one line", "textbook's line", "extrapolated", "GB/s (", "95 % of launches"):
        assert words in done.out
    assert "| 0 B | 256 KiB | 20 |" in cli("model", result, "--format", "markdown").out


@pytest.mark.thorough
def test_a_probed_limit_that_changes_nothing_is_no_break(cli: Cli, fake_mpi: Install) -> None:
    fake_mpi("mpich", "5.0.2", latency_ns=300)
    words = ("pingpong", "eager", "--sizes", SIZES, "--launches", "3", "-q", "-o", "e.jsonl")
    assert cli("run", *words).status == EXIT_DONE
    (one,) = modelled(cli("model", "e.jsonl", "--series", "pingpong", "--format", "json"))
    assert one["breaks"] == []
    assert len(one["segments"]) == 1


@pytest.mark.thorough
def test_lines_of_csv_are_segments_or_predictions(cli: Cli, result: str) -> None:
    (segment,) = csv.DictReader(StringIO(cli("model", result, "--format", "csv").out))
    assert float(segment["alpha_s_value"]) == pytest.approx(LATENCY_S, rel=0.05)
    done = cli("model", result, "--predict", "3KiB,1MiB", "--format", "csv")
    assert [line["bytes"] for line in csv.DictReader(StringIO(done.out))] == ["3072", "1048576"]


def test_one_launch_has_no_intervals_and_says_so(cli: Cli, openmpi: object) -> None:
    words = ("pingpong", "--sizes", "8:64KiB", "--launches", "1", "-q", "-o", "one.jsonl")
    assert cli("run", *words).status == EXIT_DONE
    assert "no intervals, for want of two launches" in cli("model", "one.jsonl").out
    (one,) = modelled(cli("model", "one.jsonl", "--format", "json"))
    assert one["segments"][0]["alpha_s"]["low"] is None


def test_what_others_have_published_is_modelled_without_intervals(cli: Cli, machine: Path) -> None:
    rows = "\n".join(f"{2**power},{1 + 2**power / 1000:.6f}" for power in range(3, 20))
    (machine / "work" / "theirs.csv").write_text(f"bytes,us\n{rows}\n", encoding="utf-8")
    (machine / "work" / "columns.toml").write_text(COLUMNS, encoding="utf-8")
    done = cli("import", "csv", "theirs.csv", "--columns", "columns.toml", "-o", "theirs.jsonl")
    assert done.status == EXIT_DONE, done.err
    (one,) = modelled(cli("model", "theirs.jsonl", "--format", "json"))
    assert one["segments"][0]["alpha_s"] == {
        "value": pytest.approx(1e-6, rel=0.01),
        "low": None,
        "high": None,
    }
    assert "published by others" in cli("model", "theirs.jsonl").out


def test_too_few_sizes_have_no_model(cli: Cli, openmpi: object) -> None:
    words = ("--launches", "2", "-q")
    assert cli("run", "pingpong", "--sizes", "8,64", *words, "-o", "few.jsonl").status == EXIT_DONE
    done = cli("model", "few.jsonl")
    assert done.status == EXIT_USAGE
    assert "no curve of messages has 4 sizes" in done.err


@pytest.mark.thorough
def test_what_nothing_can_say_is_undecided(cli: Cli, openmpi: object) -> None:
    """Sizes up to 64 B have no slope, so nothing beyond them is predicted."""
    words = ("--sizes", "1:64:+1", "--launches", "3", "-q", "-o", "small.jsonl")
    assert cli("run", "pingpong", *words).status == EXIT_DONE
    done = cli("model", "small.jsonl", "--predict", "1MiB")
    assert done.status == EXIT_UNDECIDED
    assert "the last segment has no slope" in done.out
    assert "constant" in done.out
