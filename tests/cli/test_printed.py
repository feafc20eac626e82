"""Texts of other benchmarks on the command line: shown, drawn and compared as if they had been imported."""

from __future__ import annotations

import csv
import io
import json
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.result.reader import load
from tests.printed import FILES, FOLDER
from tests.unit.show.drawing import named, points, texts

if TYPE_CHECKING:
    from tests.conftest import Cli

LATENCY = FOLDER / "osu_latency_7.4.txt"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_sample_is_shown_and_imported_alike(cli: Cli, path: Path) -> None:
    shutil.copy(path, "printed.txt")
    shown = cli("show", "printed.txt", "--all", "--format", "json")
    assert shown.status == 0, shown.err
    name = path.name.partition("_")[0]
    imported = cli("import", name, "printed.txt", "-o", "r.jsonl", "--format", "json")
    assert imported.status in {0, 1, 4}, imported.err
    again = cli("show", "r.jsonl", "--all", "--format", "json")
    assert json.loads(again.out)["rows"] == json.loads(shown.out)["rows"]
    assert not load(Path("r.jsonl")).damaged


@pytest.mark.parametrize(
    ("words", "statuses"),
    [
        (("show", "osu.txt"), {0}),
        (("show", "osu.txt", "imb.txt", "--table", "times"), {0}),
        (("compare", "osu.txt", "osu2.txt", "--force"), {5}),
        (("model", "osu.txt"), {0}),
        (("explain", "osu.txt", "imb.txt"), {0}),
        (("check", "osu.txt", "--expect", "pingpong latency < 1s"), {0, 5}),
        (("show", "osu.txt", "--format", "osu"), {0}),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_every_verb_that_reads_takes_them(cli: Cli, words: tuple[str, ...], statuses: set[int]) -> None:
    shutil.copy(LATENCY, "osu.txt")
    shutil.copy(FOLDER / "osu_latency_7.4_c_z.txt", "osu2.txt")
    shutil.copy(FOLDER / "imb_mpi1_2021.11.txt", "imb.txt")
    done = cli(*words)
    assert done.status in statuses, done.err
    assert done.out


def test_the_answer_says_that_it_is_imported(cli: Cli) -> None:
    shutil.copy(LATENCY, "osu.txt")
    out = cli("show", "osu.txt").out
    assert "OSU MPI Latency Test v7.4" in out
    assert "imported: no samples, so no intervals" in out
    assert "1.35" in out


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("osu_latency_7.4.txt", "mean"),
        ("osu_allreduce_7.4_f.txt", "mean over ranks"),
        ("imb_mpi1_2021.11.txt", "mean; mean of the slowest rank"),
        ("netpipe_3_made.out", "least of several trials"),
        ("perftest_write_bw_made.txt", "mean"),
    ],
)
def test_programs_are_told_what_the_times_are_of_their_samples(cli: Cli, name: str, said: str) -> None:
    """None of ours, such as a median."""
    context = json.loads(cli("show", FOLDER / name, "--all", "--format", "json").out)["context"]
    assert context["statistic"] == said
    assert {line["statistic"] for line in lines_of(cli, name)} == {said}


def lines_of(cli: Cli, name: str) -> list[dict[str, str]]:
    return [*csv.DictReader(io.StringIO(cli("show", FOLDER / name, "--all", "--format", "csv").out))]


def test_what_a_text_does_not_say_is_not_zero(cli: Cli) -> None:
    """OSU prints no number of ranks, and of launches and samples nobody does."""
    shutil.copy(FOLDER / "osu_barrier_7.4_f.txt", "osu.txt")
    assert "0 ranks" not in cli("show", "osu.txt").out
    (table,) = (line for line in cli("show", "osu.txt", "--all").out.splitlines() if "610 ns" in line)
    assert "0" not in table.replace("610 ns", "")
    assert (
        "imported: no samples, so no intervals: 1 number, from osu.txt" in cli("show", "osu.txt", "--all").out
    )


def test_a_text_without_any_number_says_whose_it_is(cli: Cli) -> None:
    shutil.copy(FOLDER / "imb_mpi1_time_out.txt", "imb.txt")
    first, second, *_ = cli("show", "imb.txt").out.splitlines()
    assert first.startswith("Intel(R) MPI Benchmarks 2021.11")
    assert (second, "timeout, timeout" in cli("show", "imb.txt", "--all").out) == ("", False)


def piped(content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts it on standard input."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(content))))


def test_standard_input_may_be_one(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    noise = b"Lmod: loading gcc\n" * 1000
    piped(noise + LATENCY.read_bytes(), monkeypatch)
    done = cli("show", "-", "--sizes", "8")
    assert (done.status, done.err) == (0, "")
    assert "1.35" in done.out


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_standard_input_may_be_any_of_them(cli: Cli, monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    """JSON of others, too, which begins as a result of ours does."""
    piped(path.read_bytes(), monkeypatch)
    shown = cli("show", "-", "--all", "--format", "json")
    assert (shown.status, shown.err) == (0, "")
    rows = json.loads(cli("show", path, "--all", "--format", "json").out)["rows"]
    assert json.loads(shown.out)["rows"] == rows


def test_nothing_on_standard_input_is_told_as_such(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    piped(b"", monkeypatch)
    done = cli("show", "-")
    assert (done.status, done.out) == (2, "")
    assert "standard input: is empty" in done.err
    assert "mpigauge show -" in done.err


def test_json_of_nobody_is_refused(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    piped(b'{"some": "thing"}\n', monkeypatch)
    done = cli("show", "-")
    assert (done.status, done.out) == (2, "")
    assert "is not a result of mpigauge" in done.err


def test_what_is_of_nobody_is_refused_as_before(cli: Cli) -> None:
    Path("x.txt").write_text("hello\n1 2 3\n", encoding="ascii")
    done = cli("show", "x.txt")
    assert done.status == 2
    assert "is not a result file" in done.err


def test_a_damaged_text_is_refused_with_its_line(cli: Cli) -> None:
    Path("osu.txt").write_text(LATENCY.read_text(encoding="utf-8").replace("(us)", "(xs)"), encoding="utf-8")
    done = cli("show", "osu.txt")
    assert (done.status, done.out) == (2, "")
    assert "osu.txt: line 4: Latency: no unit is called 'xs'" in done.err.replace("Avg ", "")


def test_what_a_format_has_no_name_for_is_named_on_standard_error(cli: Cli) -> None:
    shutil.copy(FOLDER / "imb_mpi1_2021.11.txt", "imb.txt")
    done = cli("show", "imb.txt", "--format", "osu")
    assert done.status == 0
    assert "leaves out shift sendrecv" in done.err
    assert "# OSU MPI Allreduce Latency Test v7.4" in done.out


NONBLOCKING = ("Allreduce", "All-to-All", "Allgather", "Broadcast", "Reduce", "Gather")


def test_a_figure_that_has_no_room_shows_communication_alone(cli: Cli) -> None:
    """Six collectives in two modes each are more curves than a panel can tell apart."""
    rows = "8  10.00  5.00  4.75  0.00\n64  11.00  5.00  4.85  0.00\n"
    heading = "# Size  Overall(us)  Compute(us)  Pure Comm.(us)  Overlap(%)\n"
    tables = [f"# OSU MPI Non-blocking {name} Latency Test v7.3\n{heading}{rows}" for name in NONBLOCKING]
    Path("osu.txt").write_text("".join(tables), encoding="ascii")
    done = cli("plot", "osu.txt", "-o", "figure.svg")
    assert done.status == 0, done.err
    found = texts()
    assert {word for text in found for word in text.split()} >= {"allreduce", "alltoall", "gather"}
    assert not [text for text in found if "overlap" in text]


def test_a_number_of_ranks_that_nobody_says_is_no_point_of_a_figure(cli: Cli) -> None:
    Path("t.csv").write_text("size,p,us\n8,0,1.5\n8,2,2.5\n8,4,3.5\n", encoding="ascii")
    columns = ['title = "t"', 'pattern = "allreduce"', 'bytes = { column = "size" }']
    columns += ['ranks = { column = "p" }', 'time = { column = "us", unit = "us" }']
    Path("t.toml").write_text("\n".join(columns), encoding="ascii")
    assert cli("import", "csv", "t.csv", "--columns", "t.toml", "-o", "t.jsonl").status == 0
    assert cli("plot", "t.jsonl", "--kind", "ranks", "-o", "figure.svg").status == 0
    assert points(named(Path("figure.svg"))) == [2]
