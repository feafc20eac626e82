"""`mpigauge explain`, on fake libraries of known speed: what is planted is said, in every form."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.errors import EXIT_DONE, EXIT_USAGE
from mpigauge.find.explain.table import MAX_SAID
from mpigauge.find.explain.topics import TOPICS
from tests.made import SMALL, campaign, written

if TYPE_CHECKING:
    from tests.conftest import Cli, Install

WORDS = ("--sizes", "8,4KiB", "--samples", "20", "--seed", "7", "--launches", "6", "-q")
SLOWER = 2
UNTOLD = {"spread", "first"}
"""Topics that are records of JSON and CSV, and no lines."""


@pytest.fixture
def both(cli: Cli, fake_mpi: Install, monkeypatch: pytest.MonkeyPatch) -> str:
    """Messages of two libraries, of which one takes twice as long to begin."""
    monkeypatch.setenv("FAKE_JITTER", "0.01")
    one = fake_mpi("openmpi", latency_ns=10_000)
    two = fake_mpi("mpich", "5.0.2", latency_ns=SLOWER * 10_000)
    mpis = ("--mpi", str(one.mpicc), "--mpi", str(two.mpicc))
    words = ("pingpong", "--mode", "standard,nonblocking,buffered,synchronous,sendrecv")
    done = cli("run", *words, *mpis, *WORDS, "-o", "both.jsonl")
    assert done.status == EXIT_DONE, done.err
    return "both.jsonl"


def told(cli: Cli, *words: str) -> list[dict[str, Any]]:
    done = cli("explain", *words, "--format", "json")
    assert (done.status, done.err) == (EXIT_DONE, "")
    found: list[dict[str, Any]] = json.loads(done.out)["conclusions"]
    return found


def test_the_library_that_takes_twice_as_long_is_said_to(cli: Cli, both: str) -> None:
    found = [one for one in told(cli, both, "--series", "pingpong") if one["kind"] == "library"]
    assert found
    for one in found:
        assert one["launches"] == 6
        assert "MPICH 5.0.2 takes " in one["text"]
        assert one["details"].startswith(one["text"])
        first = one["value"]["points"][0]
        assert first["verdict"] == "slower"
        assert first["ratio"]["low"] < SLOWER * 1.02
        assert first["ratio"]["high"] > SLOWER * 0.9
        assert first["other_s"] - first["base_s"] == pytest.approx(first["low_s"], rel=0.2)


@pytest.mark.thorough
def test_a_screen_has_ten_of_all_topics_and_says_how_many_are_left(cli: Cli, both: str) -> None:
    every = told(cli, both)
    assert all(one["cells"] and one["text"] and one["launches"] for one in every)
    kinds = [one["kind"] for one in every]
    several = len(set(kinds))
    assert len(set(kinds[:several])) == several
    assert set(kinds) >= UNTOLD
    found = [one for one in every if one["kind"] not in UNTOLD and not TOPICS[one["kind"]].within]
    text = cli("explain", both).out
    few = cli("explain", both, "--top", "3").out.splitlines()
    begin = next(at for at, line in enumerate(text.splitlines()) if "launches)" in line)
    assert sum("launches)" in line for line in few[begin:]) == 3
    assert few[-1].startswith(f"{len(found) - 3} more")
    assert cli("explain", both, "--top", "3", "--all").status == EXIT_USAGE
    assert len(found) > MAX_SAID
    assert f"{len(found) - MAX_SAID} more: --all" in text
    for form in ("text", "markdown"):
        out = cli("explain", both, "--all", "--format", form).out
        assert "--all" not in out
        assert all(one["text"].split(": ")[-1].split(",")[0] in out for one in found)
        assert not any(one["text"] in out for one in every if one["kind"] in UNTOLD)
    lines = cli("explain", both, "--all", "--format", "csv").out.splitlines()
    assert len(lines) == 1 + len(every)


def test_it_says_times_in_the_unit_asked_for_and_as_tables_have_them(cli: Cli, both: str) -> None:
    text = cli("explain", both, "--all", "--unit", "ns").out
    assert re.search(r"\d ns against \d", text)
    assert not re.search(r"\d \N{MICRO SIGN}s", text)
    rows = json.loads(cli("show", both, "--format", "json").out)["rows"]
    times_s = {row["time_s"]["estimate"] for row in rows if row["time_s"]}
    points = [
        point for one in told(cli, both, "--all") if one["kind"] == "mode" for point in one["value"]["points"]
    ]
    assert points
    assert {point[side] for point in points for side in ("base_s", "other_s")} <= times_s


@pytest.mark.parametrize("planted_ns", [0, 500])
def test_crossing_the_eager_limit_costs_what_is_planted(
    cli: Cli, fake_mpi: Install, monkeypatch: pytest.MonkeyPatch, planted_ns: int
) -> None:
    monkeypatch.setenv("FAKE_CROSSING_NS", str(planted_ns))
    library = fake_mpi("openmpi", latency_ns=10_000)
    done = cli("run", "eager", "pingpong", "--mpi", str(library.mpicc), *WORDS, "-o", "one.jsonl")
    assert done.status == EXIT_DONE, done.err
    (fact,) = (one for one in told(cli, "one.jsonl", "--all") if one["kind"] == "eager-limit")
    cost = fact["value"]["crossing"]
    assert (cost["below_bytes"], cost["above_bytes"], cost["launches"]) == (4000, 4001, 6)
    assert cost["low_s"] <= 1e-9 * planted_ns <= cost["high_s"]
    assert ("crossing it costs 500 ns" in fact["text"]) == (planted_ns > 0)


def test_two_results_are_told_one_after_the_other(cli: Cli, both: str) -> None:
    cli("run", "pingpong", "--sizes", "8", "--launches", "3", "--samples", "40", "-q", "-o", "one.jsonl")
    found = told(cli, both, "one.jsonl")
    assert {one["result"] for one in found} <= {"both", "one"}


def test_what_has_nothing_to_say_says_so(cli: Cli) -> None:
    done = cli("explain", written("empty.jsonl", campaign(SMALL)))
    assert (done.status, done.err) == (EXIT_DONE, "")
    assert "nothing follows" in done.out
    assert cli("explain", "nowhere.jsonl").status == EXIT_USAGE
