"""Verbs on what other benchmarks have printed: by its names, and never as sure as a measurement."""

from __future__ import annotations

import json
import os
import re
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.errors import EXIT_CHECK_FAILED, EXIT_UNDECIDED
from tests.unit.importers.test_foreign_samples import FOLDER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.conftest import Cli

PAIRS, MEANS, SLOWEST = (
    "osu_pairs.jsonl",
    "73_osu75_allreduce_n16.txt",
    "74_imb_allreduce_16.txt",
)
SUITE = "53_osu563_spack_suite_log.txt"
OLDER = FOLDER.parent / "older"
TABLE = "# OSU MPI Latency Test v5.9\n# Size  Latency (us)\n0  {0}\n8  {0}\n"
TIMES = ("1.81", "1.82", "1.84", "1.83", "1.85", "1.82")
DRAWN = ("overview", "time", "rate", "ratio", "placements", "compare", "history")
LACKING = ("mean", "modes", "ranks", "samples", "distribution", "cpu", "skew")


@pytest.fixture(autouse=True)
def _here(machine: Path) -> None:
    """A folder of our own, and no MPI library."""


def given(*names: str) -> list[str]:
    """Samples, as files that are here; one is a result of the time when several pairs had no name of ours."""
    for name in names:
        shutil.copy((OLDER if name == PAIRS else FOLDER) / name, name)
    return [*names]


def sessions(times: Sequence[str] = TIMES) -> list[str]:
    """A text a month, by the date of its file."""
    names = [f"{number}.txt" for number in range(1, len(times) + 1)]
    for month, (name, time_us) in enumerate(zip(names, times, strict=True), start=1):
        Path(name).write_text(TABLE.format(time_us), encoding="utf-8")
        at_s = datetime(2026, month, 1, tzinfo=UTC).timestamp()
        os.utime(name, (at_s, at_s))
    return names


def launches(name: str, times: Sequence[str] = TIMES) -> str:
    """One text with the same command several times."""
    command = "$ mpirun -np 2 ./osu_latency\n"
    Path(name).write_text("".join(command + TABLE.format(time_us) for time_us in times), encoding="utf-8")
    return name


# ---- check ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sentence", ["osu_mbw_mr 1KiB bandwidth > 10GB/s", "osu_mbw_mr bandwidth > 1GB/s", "osu_mbw_mr time < 1h"]
)
def test_an_expectation_of_a_name_that_is_not_ours_is_held_against_its_numbers(
    cli: Cli, sentence: str
) -> None:
    done = cli("check", *given(PAIRS), "--expect", sentence, "--format", "json")
    assert (done.status, done.err) == (EXIT_UNDECIDED, "")
    found = json.loads(done.out)["expectations"]
    assert {(one["pattern"], one["verdict"]) for one in found} == {("osu_mbw_mr", "undecided")}
    assert all(one["value"] and one["low"] is None for one in found)


def test_a_number_that_was_printed_once_is_undecided_and_no_option_of_ours_helps(cli: Cli) -> None:
    done = cli("check", *given(PAIRS), "--expect", "osu_mbw_mr 1KiB bandwidth > 10GB/s")
    assert "undecided: imported, one number, no interval" in done.out
    assert "--launches" not in done.out


def test_in_a_file_of_sentences_too(cli: Cli) -> None:
    Path("e.toml").write_text('[expect]\nfast = "osu_mbw_mr 1KiB bandwidth > 10GB/s"\n', encoding="utf-8")
    assert cli("check", *given(PAIRS), "--expect-file", "e.toml").status == EXIT_UNDECIDED


def test_a_name_that_is_not_there_is_a_wrong_word(cli: Cli) -> None:
    done = cli("check", *given(PAIRS), "--expect", "osu_mbw_ms 1KiB bandwidth > 10GB/s")
    assert (done.status, done.out) == (2, "")
    assert "did you mean osu_mbw_mr?" in done.err


@pytest.mark.parametrize(("bound", "status"), [("2us", 0), ("1us", EXIT_CHECK_FAILED)])
def test_launches_of_one_command_decide(cli: Cli, bound: str, status: int) -> None:
    assert cli("check", launches("a.txt"), "--expect", f"pingpong time < {bound}").status == status


@pytest.mark.parametrize(("stat", "status"), [("mean", 0), ("median", 0), ("p99", EXIT_UNDECIDED)])
def test_a_mean_is_no_percentile_that_somebody_asks_for(cli: Cli, stat: str, status: int) -> None:
    done = cli("check", launches("a.txt"), "--expect", f"pingpong 8B {stat} time < 2us")
    assert done.status == status
    assert ("undecided: imported, mean, no p99" in done.out) == (status != 0)
    assert "not measured" not in done.out


# ---- history, baselines --------------------------------------------------------------------------


def test_a_history_of_texts_has_the_dates_of_their_files(cli: Cli) -> None:
    names = sessions()
    done = cli("history", *reversed(names), "--format", "json")
    assert (done.status, done.err) == (0, "")
    found = json.loads(done.out)
    assert [one["file"] for one in found["sessions"]] == names, "in the order of time"
    assert not any(one["dated"] or one["versions"] for one in found["sessions"])
    times_us = [float(time_us) for time_us in TIMES]
    for cell in found["cells"]:
        assert [time_s * 1e6 for time_s in cell["times_s"]] == pytest.approx(times_us)
    text = cli("history", *names).out
    assert "2026-01-01 to 2026-06-01" in text
    assert "dated by its file, as imported numbers have no date: 6 sessions" in text
    assert "1970" not in text


def test_what_has_no_file_has_no_date(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = sessions(TIMES[:1])
    monkeypatch.setattr("mpigauge.compare.history.session._modified_s", lambda _: 0.0)
    assert "date unknown" in cli("history", name).out
    assert json.loads(cli("history", name, "--format", "json").out)["sessions"][0]["begun_s"] is None


def test_texts_of_one_moment_are_copies_only_if_their_numbers_are_the_same(cli: Cli) -> None:
    names = sessions(["1.81", "1.82", "1.81"])
    for name in names:
        os.utime(name, (1e9, 1e9))
    done = cli("history", *names)
    assert done.err.splitlines() == ["skipped: 3.txt: a copy of another result"]
    assert "2 sessions" in done.out


def test_a_text_is_held_against_a_baseline_of_texts(cli: Cli) -> None:
    Path("before").mkdir()
    for name in sessions():
        assert cli("import", "osu", name, "-o", f"before/{name}.jsonl").status == 0
    Path("new.txt").write_text(TABLE.format("3.60"), encoding="utf-8")
    done = cli("check", "new.txt", "--baseline", "before", "--format", "json")
    assert (done.status, done.err) == (EXIT_CHECK_FAILED, "")
    assert {one["verdict"] for one in json.loads(done.out)["cells"]} == {"slower"}
    assert cli("check", "6.txt", "--baseline", "before").status == 0


@pytest.mark.parametrize(("now", "status"), [("0.26", 0), ("0.50", EXIT_CHECK_FAILED)])
def test_one_last_digit_is_no_regression(cli: Cli, now: str, status: int) -> None:
    """Sessions that print the same two digits do not differ by nothing, but by less than these tell."""
    Path("before").mkdir()
    for number in range(3):
        Path("a.txt").write_text(TABLE.format("0.25"), encoding="utf-8")
        os.utime("a.txt", (1e9 + number, 1e9 + number))
        assert cli("import", "osu", "a.txt", "-o", f"before/{number}.jsonl").status == 0
    Path("new.txt").write_text(TABLE.format(now), encoding="utf-8")
    done = cli("compare", "new.txt", "--baseline", "before", "--format", "json")
    assert (done.status, done.err) == (status, "")
    for one in json.loads(done.out)["cells"]:
        assert one["high"] - one["low"] >= 0.01 / 0.25


@pytest.mark.parametrize("times", [["0.25"] * 6, ["0.25"] * 3])
def test_no_interval_of_printed_numbers_is_narrower_than_half_of_their_last_digit(
    cli: Cli, times: list[str]
) -> None:
    rows = json.loads(cli("show", launches("a.txt", times), "--format", "json").out)["rows"]
    for time in (row["time_s"] for row in rows):
        assert time["low"] <= 0.245e-6
        assert time["high"] >= 0.255e-6
        assert time["half_width"] >= 0.005 / 0.25


# ---- compare, explain, model ---------------------------------------------------------------------


def test_where_statistics_differ_it_is_said(cli: Cli) -> None:
    done = cli("compare", *given(MEANS, SLOWEST))
    assert done.status == EXIT_UNDECIDED
    assert "statistics differ: 2; mean of the slowest rank against mean over ranks" in done.out
    assert "statistics differ" not in cli("compare", MEANS, MEANS).out


def test_explain_has_a_headline_and_concludes_nothing_of_one_number_each(cli: Cli) -> None:
    done = cli("explain", *given(SUITE))
    assert (done.status, done.err) == (0, "")
    assert "nothing follows" in done.out


def test_a_model_of_a_foreign_curve_is_of_its_numbers(cli: Cli) -> None:
    done = cli("model", *given(PAIRS), "--format", "json")
    assert (done.status, done.err) == (0, "")
    assert "osu_mbw_mr" in done.out


# ---- Output --------------------------------------------------------------------------------------


def test_a_mean_is_called_a_mean(cli: Cli) -> None:
    (name,) = given(MEANS)
    shown = json.loads(cli("show", name, "--format", "json").out)
    assert shown["context"]["statistic"] == "mean over ranks"
    lines = cli("show", name, "--format", "csv").out.splitlines()
    columns = lines[0].split(",")
    assert {line.split(",")[-1] for line in lines[1:]} == {"mean over ranks"}
    assert columns[-1] == "statistic"
    assert "median" not in cli("show", name, "--all").out


@pytest.mark.parametrize("name", [PAIRS, MEANS, SUITE, "29_nccl_tests_218.txt", "49_osu_truncated.txt"])
def test_a_page_and_a_table_for_programs_are_of_every_import(cli: Cli, name: str) -> None:
    assert cli("report", *given(name), "-o", "r.html").status == 0
    page = re.sub("<script.*?</script>", "", Path("r.html").read_text(encoding="utf-8"), flags=re.DOTALL)
    for plan in ("launches planned", "time budget", "precision", "1970", "95 % intervals across launches"):
        assert plan not in page, "nobody has planned this"
    assert "read from" in page
    parquet = pytest.importorskip("pyarrow.parquet")
    assert cli("show", name, "-o", "r.parquet").status == 0
    table = parquet.read_table("r.parquet").to_pylist()
    shown = json.loads(cli("show", name, "--format", "json").out)["rows"]
    assert [row["time_estimate_s"] for row in table] == [
        (row["time_s"] or {"estimate": None})["estimate"] for row in shown
    ]


@pytest.mark.parametrize("kind", [*DRAWN, *LACKING])
def test_every_figure_is_drawn_or_says_what_it_needs(cli: Cli, kind: str) -> None:
    names = [launches("a.txt"), launches("b.txt", TIMES[::-1])]
    done = cli("plot", *(sessions() if kind == "history" else names), "--kind", kind, "-o", "f.svg")
    assert (done.status, Path("f.svg").exists()) == ((0, True) if kind in DRAWN else (2, False))
    assert ("no figure of kind" in done.err) == (kind in LACKING)


def test_rates_of_others_are_drawn_as_rates(cli: Cli) -> None:
    assert cli("plot", *given(PAIRS), "-o", "f.svg").status == 0
    assert "time of one operation" not in Path("f.svg").read_text(encoding="utf-8")
