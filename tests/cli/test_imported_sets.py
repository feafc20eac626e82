"""Many texts of another benchmark: repetitions before and after, folders, files of several programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.errors import EXIT_UNDECIDED, EXIT_USAGE

if TYPE_CHECKING:
    from tests.conftest import Cli

TITLES = {
    "lat": ("OSU MPI Latency Test v7.4", "Size          Latency (us)"),
    "bw": ("OSU MPI Bandwidth Test v7.4", "Size      Bandwidth (MB/s)"),
    "all": ("OSU MPI Allreduce Latency Test v7.4", "Size       Avg Latency(us)"),
}
SPREAD = (0.0, 0.02, -0.01, 0.01, -0.02, 0.015)


def text(program: str, *numbers: float) -> str:
    """Table with a number for each of 8 B, 16 B and so on."""
    title, heading = TITLES[program]
    rows = "".join(f"{8 << at:<16}{number:14.2f}\n" for at, number in enumerate(numbers))
    return f"# {title}\n# {heading}\n{rows}"


def runs(folder: Path, first: int, count: int, scale: float) -> list[str]:
    """Files `run<number>.txt` of latencies that spread a little."""
    folder.mkdir(exist_ok=True)
    paths = [folder / f"run{number}.txt" for number in range(first, first + count)]
    for path, spread in zip(paths, SPREAD, strict=False):
        path.write_text(text("lat", *(scale * (1 + spread) * one for one in (2.5, 3.5))), encoding="ascii")
    return [*map(str, paths)]


@pytest.mark.usefixtures("machine")
def test_files_that_are_only_numbered_are_launches_of_their_side(cli: Cli) -> None:
    for name, first, scale in (("before", 1, 1.0), ("after", 7, 1.2)):
        assert cli("import", "osu", *runs(Path(), first, 6, scale), "-o", f"{name}.jsonl").status == 0
    done = cli("compare", "before.jsonl", "after.jsonl")
    assert (done.status, done.err) == (EXIT_UNDECIDED, "")
    assert "after against before · 2 ranks · 6 launches, at different times" in done.out
    cells = json.loads(cli("compare", "before.jsonl", "after.jsonl", "--format", "json").out)["cells"]
    assert all(one["low"] < 1.2 < one["high"] for one in cells)


@pytest.mark.usefixtures("machine")
def test_too_few_texts_ask_for_texts(cli: Cli) -> None:
    for name, first in (("before", 1), ("after", 5)):
        cli("import", "osu", *runs(Path(), first, 4, 1.0), "-o", f"{name}.jsonl")
    said = cli("compare", "before.jsonl", "after.jsonl").out
    assert "too few launches: 2; a verdict takes 5 at least: import as many texts of each side" in said
    assert "--launches" not in said


@pytest.mark.usefixtures("machine")
def test_runs_of_other_names_are_not_paired_and_the_hint_names_them(cli: Cli) -> None:
    for name, files in (("one", ("ucx", "ob1")), ("two", ("verbs", "tcp"))):
        for file in files:
            Path(f"{file}.txt").write_text(text("lat", 2.5), encoding="ascii")
        cli("import", "osu", *(f"{file}.txt" for file in files), "-o", f"{name}.jsonl")
    done = cli("compare", "one.jsonl", "two.jsonl")
    assert done.status == EXIT_USAGE
    assert "they differ in label: the one has ob1 and ucx, the other tcp and verbs" in done.err


@pytest.mark.usefixtures("machine")
def test_sessions_of_printed_means_are_of_no_statistic_of_ours(cli: Cli) -> None:
    Path("q").mkdir()
    for number, path in enumerate(runs(Path(), 1, 4, 1.0)):
        cli("import", "osu", path, "-o", f"q/{number}.jsonl")
    assert "statistics differ" not in cli("compare", "run4.txt", "--baseline", "q").out


@pytest.fixture
def folder(machine: Path) -> Path:
    """A folder of texts of three programs, four times each, and a note."""
    path = Path("osu")
    path.mkdir()
    for number in range(1, 5):
        for program in TITLES:
            (path / f"{program}_{number}.txt").write_text(text(program, 2.5, 3.5), encoding="ascii")
    (path / "README").write_text("notes\n", encoding="ascii")
    return path


PROGRAMS = ("latency, 8 B", "bandwidth", "allreduce, 8 B")


def test_a_folder_of_texts_is_a_result(cli: Cli, folder: Path) -> None:
    done = cli("show", folder)
    assert (done.status, done.err) == (0, "")
    assert done.out.count("imported: 4 runs") == 1
    assert all(f"\n{program}" in done.out for program in PROGRAMS)
    assert cli("history", folder).out.count("sessions, ") == 1
    runs(Path("before"), 1, 6, 1.0)
    runs(Path("after"), 7, 6, 1.2)
    assert "after against before · 2 ranks · 6 launches" in cli("compare", "before", "after").out


def test_many_texts_are_one_table_by_program(cli: Cli, folder: Path) -> None:
    done = cli("show", *sorted(map(str, folder.glob("*.txt"))))
    assert done.status == 0
    assert done.out.count("imported") == 1
    assert all(f"\n{program}" in done.out for program in PROGRAMS)
    assert max(map(len, done.out.splitlines())) < 120


def test_a_file_that_is_no_text_of_a_benchmark_is_refused_beside_others(cli: Cli, folder: Path) -> None:
    done = cli("show", *map(str, folder.iterdir()))
    assert done.status == EXIT_USAGE
    assert "README" in done.err


@pytest.mark.usefixtures("machine")
def test_files_of_one_name_are_called_by_their_folders(cli: Cli) -> None:
    for name, number in (("a", 2.5), ("b", 3.5)):
        Path(name).mkdir()
        Path(name, "osu.txt").write_text(text("lat", number), encoding="ascii")
    assert "  a/osu.txt  b/osu.txt\n" in cli("show", "a/osu.txt", "b/osu.txt").out
    assert "b/osu.txt against a/osu.txt" in cli("compare", "a/osu.txt", "b/osu.txt").out


@pytest.mark.usefixtures("machine")
def test_launches_that_are_far_apart_have_no_mean(cli: Cli) -> None:
    command = "$ mpirun -n 2 ./osu_bw\n"
    Path("t").write_text(command + text("bw", 1000.5) + command + text("bw", 3000.5), encoding="ascii")
    said = cli("show", "t").out
    assert "1.00 GB/s \N{EN DASH} 3.00 GB/s" in said
    assert "1.73 GB/s" not in said
    assert "! launches up to 3.00 times apart in 1 of 1 numbers; no mean: name each table" in said
    found = json.loads(cli("show", "t", "--format", "json").out)["findings"]
    assert [one["value"]["of"] for one in found if one["kind"] == "far-apart"] == [1]
    Path("t").write_text(command + text("bw", 1000.5) + command + text("bw", 1400.5), encoding="ascii")
    assert "apart" not in cli("show", "t").out


@pytest.mark.usefixtures("machine")
def test_the_best_of_a_table_that_ended_early_is_not_known(cli: Cli) -> None:
    Path("t").write_text(f"{text('bw', 7.59)}4096   12,00,1\n", encoding="ascii")
    first = cli("show", "t").out.partition("\n")[0]
    assert first == "bandwidth 7.59 MB/s (8 B), of a table of which rows are missing"


@pytest.mark.usefixtures("machine")
def test_a_column_of_unknown_ranks_says_so(cli: Cli) -> None:
    Path("t").write_text(text("bw", 7.59) + text("all", 2.5), encoding="ascii")
    assert "2 ranks  ranks unknown\n" in cli("show", "t").out
