"""`mpigauge history` and `compare --baseline`: from files to verdicts and exit statuses."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from mpigauge.errors import EXIT_CHECK_FAILED, EXIT_DONE, EXIT_UNDECIDED, EXIT_USAGE
from tests.histories import folder, records, slower_from, usual
from tests.made import written

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpigauge.plan.model import Cell
    from tests.conftest import Cli, Install

SLOWER = slower_from(7, 1.12, 1024)


@pytest.mark.thorough
def test_what_became_slower_is_named_first(cli: Cli) -> None:
    path = folder("results", 12, SLOWER, switch=7)
    done = cli("history", path)
    assert (done.status, done.err) == (EXIT_CHECK_FAILED, "")
    first, second, *_ = done.out.splitlines()
    assert first.startswith("slower: pingpong standard 8 B to 1 KiB (4 sizes) 1.1")
    assert first.endswith("times as long since 2026-11-08 (Open MPI 5.0.7 -> 5.0.8)")
    assert second.startswith("12 sessions, 2026-11-01 to 2026-11-12")
    assert "controls did not move: memcpy" in done.out
    assert cli("history").out == done.out
    said = json.loads(cli("history", path, "--format", "json").out)
    assert (said["verdict"], len(said["sessions"])) == ("slower", 12)
    changed = {one["bytes"]: [change["since_file"] for change in one["changes"]] for one in said["cells"]}
    assert changed == {size: ["results/day07.jsonl"] for size in (8, 64, 512, 1024)} | {4096: [], 65536: []}
    for one in said["cells"]:
        assert len(one["times_s"]) == 12
        assert one["expected_low_s"] < one["times_s"][-1] < one["expected_high_s"]
        assert one["said"] == ("slower" if one["changes"] else "no change")


def test_sessions_that_lack_what_the_last_one_measured_do_not_count(cli: Cli) -> None:
    path = folder("results", 4, usual)
    written(f"{path}/day99.jsonl", *records(5, usual, patterns=("stream",)))
    said = cli("history", path).out.splitlines()[0]
    assert said == (
        "undecided: 5 sessions, 1 of them with what the last one measured; "
        "a verdict takes 4 sessions of each number: measure 3 more"
    )


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("count", "factor", "status", "words"),
    [
        (12, usual, EXIT_DONE, "no change that matters: 6 numbers over 12 sessions"),
        (12, slower_from(7, 0.85), EXIT_DONE, "faster: pingpong"),
        (12, lambda _, day: 1.3 if day % 3 else 1.0, EXIT_UNDECIDED, "may be slower by 10 %"),
        (
            12,
            slower_from(7, 1.12, patterns=("pingpong", "memcpy")),
            EXIT_UNDECIDED,
            "the machine moved: memcpy",
        ),
        (9, slower_from(8, 1.2), EXIT_UNDECIDED, "in the last session alone"),
        (
            3,
            usual,
            EXIT_UNDECIDED,
            "3 sessions; a verdict takes 4 sessions of each number: measure 1 more",
        ),
    ],
    ids=["same", "faster", "wide", "machine", "last", "few"],
)
def test_the_exit_status_is_the_verdict(
    cli: Cli, count: int, factor: object, status: int, words: str
) -> None:
    done = cli("history", folder("results", count, factor))  # type: ignore[arg-type]
    assert (done.status, done.err) == (status, "")
    assert words in done.out.splitlines()[0]


def test_what_is_no_result_of_this_machine_is_named_and_left_out(cli: Cli) -> None:
    path = folder("results", 9, usual)
    Path("results/notes.jsonl").write_text("{}\n", encoding="utf-8")
    shutil.copy("results/day00.jsonl", "results/copy.jsonl")
    head, _, rest = Path("results/day03.jsonl").read_text(encoding="utf-8").partition("\n")
    other = json.loads(head)
    other["environment"] |= {"host": "elsewhere"}
    Path("results/day03.jsonl").write_text(f"{json.dumps(other)}\n{rest}", encoding="utf-8")
    done = cli("history", path)
    assert done.status == EXIT_DONE
    assert "skipped: results/notes.jsonl" in done.err
    assert done.err.count("a copy of another result") == 1
    assert "left out: results/day03.jsonl: host node1, elsewhere" in done.out
    assert "8 sessions" in done.out
    for words in (["none.jsonl"], ["results/notes.jsonl"], ["."]):
        done = cli("history", *words)
        assert (done.status, "skipped" in done.err) == (EXIT_USAGE, False)


@pytest.mark.thorough
def test_every_format_has_all_of_it(cli: Cli) -> None:
    path = folder("results", 12, SLOWER)
    lines = list(csv.DictReader(io.StringIO(cli("history", path, "--format", "csv").out)))
    assert {one["said"] for one in lines} == {"slower", "no change"}
    suite = ET.fromstring(cli("history", path, "--format", "junit").out)  # noqa: S314 - our own
    assert suite.get("failures") == str(sum(one["said"] == "slower" for one in lines))
    assert "memcpy" in cli("history", path, "--all").out
    assert "slower" in cli("history", path, "--format", "markdown").out
    only = json.loads(cli("history", path, "--sizes", "8", "--format", "json").out)
    assert [one["bytes"] for one in only["cells"]] == [8]


def test_a_margin_says_what_matters(cli: Cli) -> None:
    path = folder("results", 12, SLOWER)
    assert cli("history", path, "--margin", "30%", "--allow", "30%").status == EXIT_DONE


@pytest.mark.thorough
def test_sessions_since_a_date_are_all_there_is(cli: Cli) -> None:
    path = folder("results", 12, slower_from(3, 1.3))
    assert cli("history", path).status == EXIT_CHECK_FAILED
    done = cli("history", path, "--since", "2026-11-04")
    assert done.status == EXIT_DONE
    assert "9 sessions, 2026-11-04 to 2026-11-12" in done.out
    assert "10 sessions" in cli("history", path, "--since", "2026-11-03T02:59").out
    late = cli("history", path, "--since", "2027-01-01")
    assert (late.status, "no session began then" in late.err) == (EXIT_USAGE, True)
    assert cli("history", path, "--since", "yesterday").status == EXIT_USAGE


@pytest.mark.parametrize(
    ("count", "says"),
    [
        (2, "with 2 sessions: the last session against those before, from 4 sessions on; changes for good"),
        (
            5,
            "with 5 sessions: changes for good, from 8 sessions on; what came and went again, from 9",
        ),
        (8, "with 8 sessions: what came and went again, from 9 sessions on: measure 1 more for all of it"),
    ],
)
def test_what_so_few_sessions_cannot_show_is_said(cli: Cli, count: int, says: str) -> None:
    path = folder("results", count, usual)
    assert f"not looked for, {says}" in cli("history", path).out


@pytest.mark.thorough
def test_what_came_and_went_is_told_and_is_not_slow(cli: Cli) -> None:
    path = folder("results", 14, lambda of, day: 1.2 if of.pattern == "pingpong" and 4 <= day < 9 else 1.0)
    done = cli("history", path)
    assert done.status == EXIT_DONE
    assert "not looked for" not in done.out
    (line,) = [line for line in done.out.splitlines() if line.startswith("came and went: pingpong")]
    assert line.endswith("times as long from 2026-11-05 to 2026-11-09")
    said = json.loads(cli("history", path, "--format", "json").out)
    assert {len(one["changes"]) for one in said["cells"]} == {2}


def odd_on(day: int, then: Callable[[Cell, int], float] = usual) -> Callable[[Cell, int], float]:
    """Messages take 1.4 times as long in one session."""
    return lambda of, number: then(of, number) * (1.4 if number == day and of.pattern == "pingpong" else 1.0)


def test_an_odd_session_is_named_once_and_hides_nothing(cli: Cli) -> None:
    path = folder("results", 16, odd_on(4, slower_from(9, 1.1)))
    done = cli("history", path)
    assert done.status == EXIT_CHECK_FAILED
    assert done.out.splitlines()[0].endswith("since 2026-11-10")
    (line,) = [line for line in done.out.splitlines() if line.startswith("odd session")]
    assert line == "odd session 2026-11-05: 1.39 times as long in 6 of 6 numbers"
    said = json.loads(cli("history", path, "--format", "json").out)
    (odd,) = said["odd_sessions"]
    assert (odd["file"], odd["numbers"], odd["of"], odd["left_out"]) == ("results/day04.jsonl", 6, 6, 0)
    assert odd["ratio_low"] <= odd["ratio"] <= odd["ratio_high"]
    assert {tuple(one["odd_files"]) for one in said["cells"]} == {("results/day04.jsonl",)}


def test_a_drift_is_told_as_one(cli: Cli) -> None:
    path = folder("results", 20, lambda of, day: 1.005**day if of.pattern == "pingpong" else 1.0)
    done = cli("history", path)
    assert done.status == EXIT_CHECK_FAILED
    headline = done.out.splitlines()[0]
    assert headline.endswith("rising since about 2026-11-02, 1.10 times as long in all")
    assert "about 2026-11-02, rising" in done.out
    said = json.loads(cli("history", path, "--format", "json").out)
    assert {change["drifts"] for one in said["cells"] for change in one["changes"]} == {True}


def test_what_may_have_changed_in_few_sessions_is_said_with_what_would_tell(cli: Cli) -> None:
    path = folder("results", 6, slower_from(3, 1.5))
    done = cli("history", path)
    assert done.status == EXIT_UNDECIDED
    assert done.out.splitlines()[0].endswith(
        "1.50 times as long in the last 3 of 6 sessions as before; "
        "8 sessions tell a change from chance: measure 2 more"
    )
    said = json.loads(cli("history", path, "--format", "json").out)
    assert {one["said"] for one in said["cells"]} == {"may have changed"}
    assert {(one["since_file"], one["sessions_more"]) for one in said["suspected"]} == {
        ("results/day03.jsonl", 2)
    }


def test_all_that_may_have_changed_is_said_once(cli: Cli) -> None:
    both = ("pingpong", "exchange")
    path = folder("results", 6, slower_from(3, 1.5, patterns=both), patterns=(*both, "memcpy"))
    first, *rest = cli("history", path).out.splitlines()
    (second,) = [line for line in rest if line.startswith("may have changed")]
    assert sorted(one for one in both for line in (first, second) if f"{one} standard" in line) == sorted(
        both
    )


# ---- Against a baseline --------------------------------------------------------------------------


def test_an_odd_session_of_a_baseline_is_left_out_and_said_to_be(cli: Cli) -> None:
    folder("base", 11, odd_on(6))
    new = written("new.jsonl", *records(20, slower_from(0, 1.1)))
    done = cli("compare", new, "--baseline", "base")
    assert done.status == EXIT_CHECK_FAILED
    assert done.out.startswith("slower: 6 of 6 numbers")
    assert "odd session 2026-11-07: 1.42 times as long in 6 of 6 numbers, left out of what" in done.out
    assert cli("check", new, "--baseline", "base").out == done.out
    said = json.loads(cli("compare", new, "--baseline", "base", "--format", "json").out)
    assert [one["file"] for one in said["odd_sessions"]] == ["base/day06.jsonl"]
    for one in said["cells"]:
        assert one["launches"] == 10
        assert one["ratio"] == pytest.approx(one["other_s"] / one["base_s"])
    same = written("same.jsonl", *records(21, usual))
    assert cli("compare", same, "--baseline", "base").status == EXIT_DONE


def test_sessions_of_another_library_are_no_baseline(cli: Cli) -> None:
    folder("base", 4, usual)
    new = written("new.jsonl", *records(20, usual, mpi="mpich", version="5.0.2"))
    done = cli("compare", new, "--baseline", "base")
    assert (done.status, done.out) == (EXIT_USAGE, "")
    assert "it is of MPICH 5.0.2, and sessions there are of Open MPI 5.0.7" in done.err
    assert "mpigauge show base/day03.jsonl new.jsonl" in done.err
    assert cli("show", "base/day03.jsonl", "new.jsonl").status == EXIT_DONE


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("factor", "status", "words"),
    [
        (slower_from(0, 1.12, 1024), EXIT_CHECK_FAILED, "slower: 4 of 6 numbers"),
        (usual, EXIT_DONE, "no difference that matters"),
        (slower_from(0, 1.12, patterns=("pingpong", "memcpy")), EXIT_UNDECIDED, "the machine moved: memcpy"),
    ],
    ids=["slower", "same", "machine"],
)
def test_a_result_is_held_against_a_folder(cli: Cli, factor: object, status: int, words: str) -> None:
    folder("base", 8, usual)
    new = written("new.jsonl", *records(20, factor, version="5.0.8"))  # type: ignore[arg-type]
    done = cli("compare", new, "--baseline", "base")
    assert (done.status, done.err) == (status, "")
    first, second, *_ = done.out.splitlines()
    assert first.startswith(words)
    assert second.startswith("new.jsonl against 8 sessions of base (Open MPI 5.0.7 -> 5.0.8)")
    checked = cli("check", new, "--baseline", "base")
    assert (checked.status, checked.out) == (done.status, done.out)
    said = json.loads(cli("compare", new, "--baseline", "base", "--format", "json").out)
    assert (said["sessions"], said["interleaved"]) == (8, False)
    assert {one["launches"] for one in said["cells"]} == {8}


def test_few_sessions_are_counted_and_the_result_itself_is_none_of_them(cli: Cli) -> None:
    folder("base", 3, usual)
    done = cli("compare", "base/day02.jsonl", "--baseline", "base")
    assert done.status == EXIT_UNDECIDED
    assert "undecided: 2 sessions; a verdict takes 3 sessions of each number: measure 1 more" in done.out
    for words in (("--by", "mpi"), ("base/day01.jsonl",)):
        refused = cli("compare", "base/day02.jsonl", *words, "--baseline", "base")
        assert (refused.status, "--baseline holds one result" in refused.err) == (EXIT_USAGE, True)


def test_a_baseline_of_another_machine_is_refused_unless_forced(cli: Cli) -> None:
    folder("base", 4, usual)
    head, *rest = records(20, usual)
    new = written("new.jsonl", head, *rest)
    text = new.read_text(encoding="utf-8").replace('"host":"node1"', '"host":"elsewhere"', 1)
    new.write_text(text, encoding="utf-8")
    refused = cli("compare", new, "--baseline", "base")
    assert (refused.status, "elsewhere, node1" in refused.err) == (EXIT_USAGE, True)
    assert cli("compare", new, "--baseline", "base", "--force").status == EXIT_DONE


@pytest.mark.thorough
def test_a_machine_measures_and_looks_back(
    cli: Cli, fake_mpi: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From campaigns on: five as ever, and one of a slower library."""
    monkeypatch.setenv("FAKE_JITTER", "0.01")
    fake_mpi()
    words = ("pingpong", "memcpy", "--sizes", "8,1KiB", "--launches", "3", "--samples", "40", "-q")
    for number in range(5):
        assert cli("run", *words, "--seed", number, "-o", f"nights/{number}.jsonl").status == EXIT_DONE
    assert cli("history", "nights").status == EXIT_DONE
    monkeypatch.setenv("FAKE_SLOWER", "1.5")
    assert cli("run", *words, "--seed", 9, "-o", "tonight.jsonl").status == EXIT_DONE
    done = cli("compare", "tonight.jsonl", "--baseline", "nights")
    assert done.status == EXIT_CHECK_FAILED, done.out
    assert cli("history", "nights", "tonight.jsonl").status == EXIT_UNDECIDED
