"""Groups of ranks at once, orders and senders, from the command line to the sentence, on the fake kernel."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.result.reader import load

if TYPE_CHECKING:
    from tests.conftest import Cli
    from tests.fakes.mpi import FakeMpi

GROUPS = ("--np", 4, "--groups", "2", "--sizes", "8,64KiB", "--launches", 6, "-q", "-o", "r.jsonl")


@pytest.fixture(autouse=True)
def noise(openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_SPREAD", "0.1")
    monkeypatch.setenv("FAKE_JITTER", "0.02")


def facts_of(cli: Cli, topic: str) -> list[dict[str, Any]]:
    done = cli("explain", "r.jsonl", "--format", "json")
    found = json.loads(done.out)["conclusions"]
    return [one["value"] for one in found if one["kind"] == topic]


@pytest.mark.parametrize("planted", [1.0, 1.9])
def test_what_groups_cost_each_other_is_recovered(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, planted: float
) -> None:
    monkeypatch.setenv("FAKE_AT_ONCE", str(planted))
    done = cli("run", "allreduce", *GROUPS)
    assert done.status == 0, done.err
    (fact,) = facts_of(cli, "groups")
    assert fact["count"] == 2
    assert fact["ranks"] == [2, 2]
    assert [one["bytes"] for one in fact["at"]] == [8, 65536]
    for one in fact["at"]:
        assert one["ratio"]["estimate"] == pytest.approx(planted, rel=0.02)
        assert one["ratio"]["paired"]
        assert [each["group"] for each in one["groups"]] == ["0,1", "2,3"]
        assert one["most_delayed"] is None


def test_the_answer_is_what_groups_cost_each_other(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_AT_ONCE", "1.9")
    monkeypatch.setenv("FAKE_SLOW_GROUP", "2,3:1.5")
    first = cli("run", "allreduce", *GROUPS).out.splitlines()[0]
    assert first.startswith("2 allreduces of 2 ranks at once take 2.3")
    assert "one alone" in first
    assert "; group 2 " in first
    assert "is delayed most" in first
    assert "group 2 (ranks 2,3) is delayed most, 2.8" in cli("explain", "r.jsonl", "--all").out


def test_a_hang_of_one_group_costs_the_cells_of_its_step(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mpigauge.campaign.silence.MIN_SILENCE_S", 1.5)
    cli("run", "allreduce", *GROUPS)
    every = {visit.cell for visit in load(Path("r.jsonl")).visits}
    monkeypatch.setenv("FAKE_HANG", "allreduce:8:2,3")
    cli("run", "allreduce", *GROUPS[:4], "--sizes", "8,64KiB", "--launches", 1, "-q", "-o", "hung.jsonl")
    result = load(Path("hung.jsonl"))
    failed = {failure.cell for failure in result.failures}
    of_step = {("2", "0,1"), ("2", "2,3")}
    assert {("", "2,3"), ("2", "2,3")} <= {(cell.groups, cell.group) for cell in failed if cell}
    assert {(cell.groups, cell.group) for cell in failed if cell} <= of_step | {("", "2,3")}
    assert {cell.bytes for cell in failed if cell} == {8}
    measured = {visit.cell for visit in result.visits}
    assert every - failed <= measured


def test_a_group_that_is_refused_gives_up_the_groups_at_once(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_REFUSE", "allreduce:8:2,3")
    cli("run", "allreduce", *GROUPS[:4], "--sizes", "8,64KiB", "--launches", 3, *GROUPS[-3:])
    result = load(Path("r.jsonl"))
    words = {
        (f.cell.groups, f.cell.group): f.words for f in result.failures if f.cell and f.kind == "refused"
    }
    assert words.keys() == {("", "2,3"), ("2", "2,3"), ("2", "0,1")}
    assert words["2", "0,1"].startswith(
        "mpigauge: measured at once with ranks 2,3, which are given up: there is no"
    )
    later = {(v.cell.groups, v.cell.group) for v in result.visits if v.launch > 1 and v.cell.bytes == 8}
    assert later == {("", "0,1")}


def test_groups_that_were_cut_short_are_resumed_in_whole_steps(cli: Cli) -> None:
    cli("run", "bcast", *GROUPS)
    lines = Path("r.jsonl").read_bytes().splitlines(keepends=True)
    whole = load(Path("r.jsonl"))
    for part in (0.3, 0.5, 0.52, 0.7):
        Path("cut.jsonl").write_bytes(b"".join(lines[: int(part * len(lines))]))
        assert cli("resume", "cut.jsonl", "-q").status == 0
        result = load(Path("cut.jsonl"))
        assert {(v.launch, v.cell) for v in result.visits} == {(v.launch, v.cell) for v in whole.visits}
        for one in ("0,1", "2,3"):
            made = [(v.launch, v.cell.bytes) for v in result.visits if v.cell.groups and v.cell.group == one]
            assert len(made) <= len(whole.visits)


def test_orders_and_senders_are_compared(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("--np", 4, "--launches", 6, "-q", "--sizes", "8", "-o", "r.jsonl")
    assert cli("run", "ring", *words, "--order", "natural,interleaved").status == 0
    (fact,) = facts_of(cli, "order")
    assert fact["points"][0]["ratio"]["estimate"] == pytest.approx(1, rel=0.03)
    said = cli("compare", "r.jsonl", "--by", "order").out
    assert "interleaved order against natural order" in said
    Path("r.jsonl").unlink()
    assert cli("run", "multi-stream", *words, "--senders", "1,all").status == 0
    said = cli("compare", "r.jsonl", "--by", "senders").out
    assert "2 senders against 1 sender" in said
    assert facts_of(cli, "senders")


def test_orders_of_each_group_are_named_with_it(cli: Cli) -> None:
    orders = ("--order", "natural,interleaved")
    assert cli("run", "allreduce", "--np", 8, *GROUPS[2:4], *orders, "--sizes", "8", *GROUPS[-5:]).status == 0
    said = cli("compare", "r.jsonl", "--by", "order").out
    for groups in ("one group alone ", "groups at once: 2 "):
        for ranks in ("0-3", "4-7"):
            assert f"allreduce blocking {groups}ranks {ranks} " in said
    assert "0,2,1,3" not in said
    assert "natural order against natural order" not in said


def test_an_option_that_changes_nothing_is_refused(cli: Cli) -> None:
    done = cli("run", "pingpong", "--groups", "2", "--np", 4)
    assert done.status == 2
    assert "--groups: no pattern that is measured has it" in done.err
    done = cli("run", "pingpong", "--senders", "2", "--np", 4)
    assert done.status == 2


def test_a_plan_file_has_them(cli: Cli) -> None:
    Path("plan.toml").write_text(
        '[[measure]]\npattern = "allreduce"\nsizes = "8"\ngroups = ["mod:2"]\n'
        '[[measure]]\npattern = "multi-stream"\nsizes = "8"\nsenders = [1, "all"]\norders = ["random:3"]\n',
        encoding="ascii",
    )
    assert cli("run", "--plan", "plan.toml", "--np", 4, "--launches", 1, "-q", "-o", "r.jsonl").status == 0
    cells = {visit.cell for visit in load(Path("r.jsonl")).visits}
    assert {(cell.groups, cell.group) for cell in cells if cell.pattern == "allreduce"} == {
        ("", "0,2"),
        ("", "1,3"),
        ("mod:2", "0,2"),
        ("mod:2", "1,3"),
    }
    assert {cell.senders for cell in cells if cell.pattern == "multi-stream"} == {1, 2}
    assert {cell.order for cell in cells if cell.pattern == "multi-stream"} == {"random:3"}
