"""Ranks are where they were sent, or the first that is not is named; hosts are asked before a campaign."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpigauge.campaign.hosts import check_landed, with_hosts
from mpigauge.errors import EnvironmentLacksError, UsageError
from mpigauge.plan.hosts import Host
from mpigauge.plan.model import Measure, Plan

repeatable = settings(derandomize=True, deadline=None)
PLAN = Plan((Measure("pingpong"),))
places = st.lists(st.sampled_from(["h1", "h2", "h3", "10.77.0.4"]), min_size=1, max_size=8)


@repeatable
@given(places)
def test_ranks_may_be_where_they_were_sent(asked: list[str]) -> None:
    check_landed(asked, asked)
    check_landed(asked, [host if host[0].isdigit() else f"{host}.cluster.example" for host in asked])
    check_landed(asked, [f"the-real-name-of-{host}" for host in asked])


@repeatable
@given(places.filter(lambda asked: len(set(asked)) > 1))
def test_ranks_that_are_all_on_one_host_are_found(asked: list[str]) -> None:
    with pytest.raises(EnvironmentLacksError):
        check_landed(asked, ["h1"] * len(asked))


@pytest.mark.parametrize(
    ("asked", "found", "words"),
    [
        (["h1", "h2"], ["h2", "h1"], "rank 0 should be on h1, but is on h2"),
        (["h1", "h1"], ["h1", "h2"], "rank 1 should be on h1, but is on h2"),
        (["h1", "h2"], ["n7", "n7"], "rank 1 should be on h2, but is on n7, like ranks meant for h1"),
        ([], ["a", "b"], "rank 1 should be on this machine, but is on b"),
    ],
)
def test_the_first_rank_that_is_elsewhere_is_named(asked: list[str], found: list[str], words: str) -> None:
    with pytest.raises(EnvironmentLacksError) as caught:
        check_landed(asked, found)
    assert caught.value.sentence == words


def test_an_allocation_has_the_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    assert with_hosts(PLAN) == PLAN
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("SLURM_JOB_NODELIST", "node[1-2]")
    monkeypatch.setenv("SLURM_TASKS_PER_NODE", "4(x2)")
    assert with_hosts(PLAN).hosts == (Host("node1", 4), Host("node2", 4))


def test_srun_needs_an_allocation(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Plan(PLAN.measure, launcher="srun")
    with pytest.raises(EnvironmentLacksError, match="needs a Slurm allocation"):
        with_hosts(plan)
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("SLURM_JOB_NODELIST", "node[1-2]")
    monkeypatch.setenv("SLURM_TASKS_PER_NODE", "4(x2)")
    assert with_hosts(plan).launcher == "srun"


def test_a_launcher_that_there_is_not_is_named() -> None:
    with pytest.raises(UsageError, match="'aprun'"):
        with_hosts(Plan(PLAN.measure, launcher="aprun"))
