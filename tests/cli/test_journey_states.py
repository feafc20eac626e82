"""A machine with two states, from the measurement to every way of showing it; on a fake that has them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.cli import status_of
from mpigauge.result.reader import load
from tests.conftest import install_into, isolate

if TYPE_CHECKING:
    from tests.conftest import Cli, Install

FACTOR = 0.3
"""What a small message takes while near, of what it takes while far."""

WHAT = ("pingpong", "memcpy", "--mode", "all", "--sizes", "8,64KiB", "--launches", "6", "--seed", "11", "-q")
BOTH = ("--state", "all")


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Results of a machine that is in both states for long, and of one that is mostly far."""
    folder = tmp_path_factory.mktemp("states")
    courses = {
        "both": f"near:40:{FACTOR}:0.04,far:245:1:0.06",
        "mostly": f"near:40:{FACTOR}:0.04,far:245:1:0.4",
        "one": "",
    }
    with pytest.MonkeyPatch.context() as patch:
        isolate(folder, patch)
        install_into(folder, patch)()
        patch.setenv("FAKE_SPREAD", "0.01")
        for name, course in courses.items():
            patch.setenv("FAKE_STATES", course)
            patch.setenv("FAKE_DISTURB", "pingpong:65536" if name == "one" else "")
            patch.setenv("FAKE_NEIGHBOUR", "pingpong:65536" if name == "mostly" else "")
            assert status_of(["run", *WHAT, "-o", str(folder / f"{name}.jsonl")]) == 0
    return {name: folder / f"{name}.jsonl" for name in courses}


def shown(cli: Cli, path: Path, *words: str) -> dict[str, Any]:
    done = cli("show", path, "--format", "json", *words)
    assert done.status == 0, done.err
    return json.loads(done.out)  # type: ignore[no-any-return]


def small(whole: dict[str, Any]) -> dict[str | None, dict[str, Any]]:
    """The rows of the smallest ping-pong by state."""
    of = ("pingpong", "standard", 8)
    rows = [row for row in whole["rows"] if (row["pattern"], row["mode"], row["bytes"]) == of]
    assert len({row["state"] for row in rows}) == len(rows)
    return {row["state"]: row for row in rows}


# ---- Which numbers there are ---------------------------------------------------------------------


@pytest.mark.thorough
def test_each_state_has_its_time(two: dict[str, Path], cli: Cli) -> None:
    whole = shown(cli, two["both"])
    assert [state["name"] for state in whole["states"]] == ["near", "far"]
    assert [state["line_s"] * 1e9 for state in whole["states"]] == pytest.approx([40, 245], rel=0.01)
    rows = small(whole)
    assert rows["near"]["time_s"]["estimate"] == pytest.approx(FACTOR * 100e-9, rel=0.03)
    assert rows["far"]["time_s"]["estimate"] == pytest.approx(100e-9, rel=0.03)
    for row in rows.values():
        assert [one["state"] for one in row["states"]] == ["near", "far"]
        mine = next(one for one in row["states"] if one["state"] == row["state"])
        assert (mine["time_s"], mine["launches"]) == (row["time_s"], row["launches"])


def test_memory_has_no_state(two: dict[str, Path], cli: Cli) -> None:
    rows = [row for row in shown(cli, two["both"])["rows"] if row["pattern"] == "memcpy"]
    assert rows
    assert {row["state"] for row in rows} == {None}
    assert not any(row["states"] for row in rows)


@pytest.mark.thorough
def test_the_state_that_lasts_stands_for_the_machine(two: dict[str, Path], cli: Cli) -> None:
    whole = shown(cli, two["mostly"])
    assert list(small(whole)) == ["far"]
    assert list(small(shown(cli, two["mostly"], *BOTH))) == ["near", "far"]
    assert "far (a cache line takes 245 ns)" in cli("show", two["mostly"], "--all").out


@pytest.mark.parametrize(("name", "begins"), [("mostly", "numbers: cores far, "), ("both", "states: cores ")])
def test_the_states_are_a_line_of_the_first_screen(
    two: dict[str, Path], cli: Cli, name: str, begins: str
) -> None:
    (line,) = (line for line in cli("show", two[name]).out.splitlines() if line.startswith(begins))
    assert len(line) <= 80
    assert {"cache line", "of the time"} <= {*re.findall("cache line|of the time", line)}
    assert re.search(r" (near|far) \d+(\.\d)? % \(\d+(\.\d)? ns\)$", line)


@pytest.mark.parametrize("state", ["near", "far"])
def test_a_state_can_be_chosen(two: dict[str, Path], cli: Cli, state: str) -> None:
    assert list(small(shown(cli, two["both"], "--state", state))) == [state]


@pytest.mark.thorough
def test_of_one_state_nothing_is_said(two: dict[str, Path], cli: Cli) -> None:
    whole = shown(cli, two["one"])
    assert whole["states"] == []
    assert {row["state"] for row in whole["rows"]} == {None}
    for words in ((), ("--all",), ("--table", "times")):
        assert not re.search(r"\bstates?\b|\bnear\b", cli("show", two["one"], *words).out)


def test_a_state_that_was_not_there_is_refused(two: dict[str, Path], cli: Cli) -> None:
    done = cli("show", two["one"], "--state", "near")
    assert done.status == 2
    assert "always in one state" in done.err
    assert "choose from near, far, or all" in cli("show", two["both"], "--state", "mid").err


# ---- Every way of showing it ---------------------------------------------------------------------


def test_curves_have_a_table_for_each(two: dict[str, Path], cli: Cli) -> None:
    text = cli("show", two["both"], "--all").out
    titles = [line for line in text.splitlines() if line.startswith("pingpong, standard")]
    assert [title.rsplit(" ", 1)[-1] for title in titles] == ["near", "far"]
    assert "states of the machine: " in text


@pytest.mark.thorough
def test_tables_of_papers_have_a_column_for_each(two: dict[str, Path], cli: Cli) -> None:
    for table in ("times", "rates", "latency", "summary"):
        whole = shown(cli, two["both"], "--table", table, "--series", "pingpong standard")
        columns = [column for one in whole["tables"] for column in one["columns"]]
        assert any("near" in column for column in columns), table
        assert any("far" in column for column in columns), table


def test_the_answer_has_a_column_for_each(two: dict[str, Path], cli: Cli) -> None:
    answer = shown(cli, two["both"])["answer"]
    latency = {one["state"]: one["value"] for one in answer if one["quantity"] == "latency"}
    assert latency["near"] == pytest.approx(FACTOR * latency["far"], rel=0.05)


def test_ratios_are_formed_within_a_state(two: dict[str, Path], cli: Cli) -> None:
    """Other modes take up to twice as long in each; from one state to the other it would be 3 times."""
    found = [one for one in shown(cli, two["both"])["findings"] if one["kind"] == "contrast"]
    states = {one["value"]["state"] for one in found}
    assert states <= {"near", "far"}
    assert states
    for one in found:
        for end in (at for run in one["value"]["runs"] for at in run["at"]):
            if end["bytes"] == 8:
                assert 1.0 < end["ratio"]["estimate"] < 2.5
        assert f"cores {one['value']['state']}" in one["text"]


@pytest.mark.thorough
def test_series_are_told_apart_by_state(two: dict[str, Path], cli: Cli) -> None:
    done = cli("plot", two["both"], "--series", "pingpong standard", "-o", "figure.svg")
    assert done.status == 0, done.err
    text = Path("figure.svg").read_text(encoding="utf-8")
    assert ">cores near<" in text
    assert ">cores far<" in text
    assert 'id="band-1' in text or 'id="bars-1' in text


@pytest.mark.thorough
def test_samples_have_the_colour_of_their_state(two: dict[str, Path], cli: Cli) -> None:
    words = ("--series", "pingpong standard", "--sizes", "8", "-o", "figure.svg")
    assert cli("plot", two["both"], "--kind", "samples", *words).status == 0
    text = Path("figure.svg").read_text(encoding="utf-8")
    assert 'id="samples-near-0"' in text
    assert 'id="samples-far-0"' in text
    assert cli("plot", two["one"], "--kind", "samples", *words).status == 0
    assert 'id="samples-0"' in Path("figure.svg").read_text(encoding="utf-8")


# ---- Disturbed or not ----------------------------------------------------------------------------


@pytest.mark.thorough
def test_only_quiet_leaves_disturbed_visits_out_and_says_so(two: dict[str, Path], cli: Cli) -> None:
    before, after = shown(cli, two["one"]), shown(cli, two["one"], "--only", "quiet")
    disturbed = sum(one.wait_ns > 0 for one in load(two["one"]).visits)
    assert (before["left_out_visits"], after["left_out_visits"]) == (0, disturbed)
    shares = {(row["pattern"], row["bytes"]): row["disturbed_share"] for row in before["rows"]}
    assert shares["pingpong", 65536] == 1
    assert shares["pingpong", 8] == 0
    times = {(row["pattern"], row["bytes"]): row["time_s"] for row in after["rows"]}
    assert times["pingpong", 65536] is None
    assert times["pingpong", 8]
    text = cli("show", two["one"], "--only", "quiet").out
    (missing,) = (line for line in text.splitlines() if line.startswith("! never quiet: "))
    assert "measure on a quiet machine" in missing
    assert not [one for one in after["findings"] if one["kind"] == "not-reached"]
    assert f"{disturbed} of {disturbed + len(load(two['one']).visits) - disturbed} were disturbed" in text


@pytest.mark.thorough
def test_only_quiet_leaves_visits_of_shared_cores_out(two: dict[str, Path], cli: Cli) -> None:
    before, after = shown(cli, two["mostly"]), shown(cli, two["mostly"], "--only", "quiet")
    visits = load(two["mostly"]).visits
    mine = [one for one in visits if (one.cell.pattern, one.cell.bytes) == ("pingpong", 65536)]
    assert mine
    assert (before["left_out_visits"], after["left_out_visits"]) == (0, len(mine))
    (found,) = (one for one in before["findings"] if one["kind"] == "unsteady-machine")
    assert found["value"]["shared_slowdown"] == pytest.approx(2)
    assert not [one for one in after["findings"] if one["kind"] == "unsteady-machine"]


def test_disturbed_launches_are_named(two: dict[str, Path], cli: Cli) -> None:
    found = [one for one in shown(cli, two["one"])["findings"] if one["kind"] == "disturbed-launches"]
    assert [one["severity"] for one in found] == ["warning"]
    assert set(found[0]["value"]) == {"1", "2", "3", "4", "5", "6"}
    words = cli("show", two["one"], "--all").out
    assert "stop it, and measure again" in words
    assert "--only quiet" not in words


def test_the_default_figure_is_drawn_of_a_machine_in_two_states(
    machine: Path, cli: Cli, fake_mpi: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer ends in the words `mpigauge plot`: they must do, though every curve is there twice."""
    monkeypatch.setenv("FAKE_SPREAD", "0.01")
    monkeypatch.setenv("FAKE_STATES", f"near:40:{FACTOR}:0.04,far:245:1:0.06")
    mpis = [word for name in ("openmpi", "mpich") for word in ("--mpi", str(fake_mpi(name, "5.0.2").mpicc))]
    patterns = ("pingpong", "exchange", "shift", "stream", *mpis)
    words = ("--mode", "all", "--sizes", "8,64KiB,1MiB", "--launches", "6", "--seed", "11", "-q")
    done = cli("run", *patterns, *words, "-o", "r.jsonl")
    assert done.status == 0, done.err
    assert len(shown(cli, Path("r.jsonl"))["states"]) == 2
    done = cli("plot", "r.jsonl", "-o", "figure.svg")
    assert (done.status, done.err) == (0, "figure: figure.svg\n")
    svg = Path("figure.svg").read_text(encoding="utf-8")
    assert re.search("bandwidth, cores (near|far)", svg)
    # The window, which large messages shorten, makes no curve of its own.
    assert "window" not in svg
