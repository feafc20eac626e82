"""Which earlier results are of an equal plan, and which of them are kept."""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from mpigauge.compare.history.earlier import (
    MAX_EARLIER,
    earlier_results,
    is_equal_plan,
    keep,
    kept_folder,
    labels_of,
    plan_key,
    relabelled,
)
from mpigauge.errors import UsageError
from mpigauge.plan.hosts import Host
from mpigauge.plan.lab import Lab, Link, Port
from mpigauge.plan.model import Measure
from mpigauge.plan.sizes import parse_sizes
from mpigauge.result.records import Campaign
from mpigauge.rows.rows import rows
from tests.histories import records, result, usual
from tests.made import ENVIRONMENT, LIBRARY, campaign, cell, written

if TYPE_CHECKING:
    import random

    from mpigauge.plan.model import Plan
    from mpigauge.result.records import Record


def session(day: int) -> tuple[Campaign, list[Record]]:
    """The first record of a session, and the others."""
    head, *rest = records(day, usual)
    assert isinstance(head, Campaign)
    return head, rest


def asked(day: int = 0, **plan: object) -> Campaign:
    """What one session was asked for."""
    head = campaign(cell(), title="a test")
    started = datetime.fromisoformat(head.started) + timedelta(days=day)
    return replace(head, started=started.isoformat(), plan=replace(head.plan, **plan))


def curves(*sizes: str) -> Plan:
    return replace(campaign(cell()).plan, measure=tuple(Measure("pingpong", sizes=one) for one in sizes))


@pytest.mark.parametrize(
    "plan",
    [
        {"measure": (Measure("stream"),)},
        {"measure": (Measure("pingpong", modes=("synchronous",)),)},
        {"measure": (Measure("pingpong", sizes="8"),)},
        {"ranks": (4,)},
        {"transports": ("tcp",)},
        {"placements": ("h1,h2",)},
        {"hosts": (Host("h1"), Host("h2"))},
        {"variables": {"A": "1"}},
        {"mpi_options": ("--oversubscribe",)},
        {"vary": {"A": ("1", "2")}},
        {"binding": "none"},
    ],
    ids=lambda plan: next(iter(plan)),
)
def test_a_plan_that_measures_something_else_is_another_plan(plan: dict[str, object]) -> None:
    assert not is_equal_plan(asked(), asked(1, **plan))


@pytest.mark.parametrize(
    "plan",
    [
        {"seed": 8},
        {"launches_max": 9},
        {"budget_s": 9.0},
        {"precision": 0.1},
        {"title": "other"},
        {"mpi": ("m",)},
    ],
    ids=lambda plan: next(iter(plan)),
)
def test_how_long_and_by_which_seed_does_not_matter(plan: dict[str, object]) -> None:
    assert is_equal_plan(asked(), asked(1, **plan))


def test_what_is_planted_in_a_lab_is_no_plan_of_a_map() -> None:
    """It is where a map is rehearsed: the delay that was planted is what it is to find."""
    pairs = (Measure("pingpong", pairs="tournament"),)
    lab = Lab(hosts=4)
    others = [
        replace(lab, delay="1ms"),
        replace(lab, rate="100mbit", links=(Link("h1-h2", delay="1ms"),)),
        replace(lab, ports=(Port("h3", delay="1ms"),)),
    ]
    for other in others:
        assert is_equal_plan(asked(measure=pairs, lab=lab), asked(1, measure=pairs, lab=other))
        assert not is_equal_plan(asked(lab=lab), asked(1, lab=other))
    assert not is_equal_plan(asked(measure=pairs, lab=lab), asked(1, measure=pairs, lab=Lab(hosts=5)))
    assert not is_equal_plan(asked(measure=pairs, lab=lab), asked(1, measure=pairs))


def test_version_and_label_may_differ_and_the_kind_may_not() -> None:
    base = asked()
    newer = replace(base, libraries=(replace(LIBRARY, version="6.0.0", label="new"),))
    assert is_equal_plan(base, newer)
    assert not is_equal_plan(base, replace(base, libraries=(replace(LIBRARY, name="mpich"),)))
    assert not is_equal_plan(base, replace(base, libraries=(LIBRARY, replace(LIBRARY, label="b"))))


@pytest.mark.parametrize("fact", [{"host": "elsewhere"}, {"cpu": "another"}, {"cores": 64}])
def test_another_machine_is_not_the_same(fact: dict[str, object]) -> None:
    base = asked()
    assert not is_equal_plan(base, replace(base, environment=replace(ENVIRONMENT, **fact)))


SPECS = st.sampled_from(["8", "0", "1KiB", "8:64", "0:4MiB", "32:2MiB*4", "8:64:+8", "auto", "auto:1KiB"])


@given(st.lists(SPECS, min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_sizes_are_equal_however_they_are_written(specs: list[str], chance: random.Random) -> None:
    """In another order, or, without random ones, as a list of numbers; the order of curves is none."""
    shuffled = list(specs)
    chance.shuffle(shuffled)
    first, second = ",".join(specs), ",".join(shuffled)
    assert plan_key(asked(measure=curves(first).measure)) == plan_key(
        asked(measure=curves(second).measure, seed=8)
    )
    assert plan_key(asked(measure=curves(*specs).measure)) == plan_key(
        asked(measure=curves(*shuffled).measure)
    )
    if "auto" not in first:
        listed = ",".join(map(str, parse_sizes(first)))
        assert plan_key(asked(measure=curves(first).measure)) == plan_key(
            asked(measure=curves(listed).measure)
        )


@pytest.mark.usefixtures("machine")
def test_the_newest_come_first_each_once_and_none_is_later() -> None:
    Path("results").mkdir()
    for day in (3, 1, 2, 5):
        written(f"results/d{day}.jsonl", *records(day, usual))
    written("results/copy.jsonl", *records(2, usual))
    head, rest = session(4)
    other = replace(head, started="2026-11-01T03:00:00+00:00", plan=replace(head.plan, ranks=(4,)))
    written("results/other.jsonl", other, *rest)
    Path("results/notes.jsonl").write_text("{}\n", encoding="utf-8")
    assert [one.begun.day for one in earlier_results(head)] == [4, 3, 2]


@pytest.mark.usefixtures("machine")
def test_an_imported_result_has_no_earlier_ones_and_is_not_kept() -> None:
    Path("results").mkdir()
    written("results/d1.jsonl", *records(1, usual))
    head, rest = session(2)
    imported = replace(head, started="")
    assert earlier_results(imported) == []
    with pytest.raises(UsageError, match="it is imported"):
        keep(written("r.jsonl", imported, *rest), imported)


@pytest.mark.usefixtures("machine")
def test_the_newest_are_kept_and_found_again_and_the_oldest_go() -> None:
    kept = []
    for day in range(MAX_EARLIER + 3):
        head, rest = session(day)
        path, count = keep(written("r.jsonl", head, *rest), head)
        kept.append(path)
        assert count == min(day + 1, MAX_EARLIER)
        assert path.read_bytes() == Path("r.jsonl").read_bytes()
    assert [path.exists() for path in kept] == [False] * 3 + [True] * MAX_EARLIER
    head, _ = session(30)
    assert [one.path for one in earlier_results(head)] == kept[:2:-1]
    assert kept_folder(head) == kept[0].parent


@pytest.mark.usefixtures("machine")
def test_a_result_that_is_kept_twice_is_there_once() -> None:
    head, rest = session(1)
    path = written("r.jsonl", head, *rest)
    assert keep(path, head) == keep(path, head)


@pytest.mark.usefixtures("machine")
def test_a_result_that_began_in_the_same_second_replaces_none() -> None:
    """A stranger's, which has the host and the moment of mine."""
    head, rest = session(1)
    mine, _ = keep(written("mine.jsonl", head, *rest), head)
    other = replace(head, plan=replace(head.plan, seed=99))
    theirs, count = keep(written("theirs.jsonl", other, *rest), other)
    assert mine.read_bytes() == Path("mine.jsonl").read_bytes()
    assert theirs.read_bytes() == Path("theirs.jsonl").read_bytes()
    assert count == 2


@pytest.mark.usefixtures("machine")
def test_without_a_home_results_are_still_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("os.getuid", lambda: 2**31 - 7)
    Path("results").mkdir()
    written("results/d1.jsonl", *records(1, usual))
    head, _ = session(2)
    assert len(earlier_results(head)) == 1


def test_rows_of_another_label_join_the_curve() -> None:
    before = result(1, usual)
    head = replace(before.campaign, libraries=(replace(LIBRARY, label="new"),))
    assert {row.cell.label for row in relabelled(rows(before), labels_of(head))} == {"new"}
    several = replace(head, libraries=(LIBRARY, replace(LIBRARY, label="new")))
    assert {row.cell.label for row in relabelled(rows(before), labels_of(several))} == {""}


@pytest.mark.usefixtures("machine")
def test_only_the_last_written_files_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mpigauge.compare.history.earlier.MAX_LOOKED_AT", 2)
    Path("results").mkdir()
    for day in range(4):
        os.utime(written(f"results/d{day}.jsonl", *records(day, usual)), ns=(0, day))
    head, _ = session(9)
    assert [one.path.name for one in earlier_results(head)] == ["d3.jsonl", "d2.jsonl"]
