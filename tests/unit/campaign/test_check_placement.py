"""Ranks are where they were sent, or the first that is not is named."""

from __future__ import annotations

import platform

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpigauge.campaign.job_run import check_placement
from mpigauge.errors import EnvironmentLacksError

repeatable = settings(derandomize=True, deadline=None)
places = st.lists(st.sampled_from(["h1", "h2", "h3", "10.77.0.4"]), min_size=1, max_size=8)
HERE = platform.node()


@repeatable
@given(places)
def test_ranks_on_their_hosts_pass(asked: list[str]) -> None:
    check_placement(asked, asked)
    check_placement(asked, [host if host[0].isdigit() else f"{host}.cluster.example" for host in asked])
    check_placement(asked, [f"the-real-name-of-{host}" for host in asked])


@repeatable
@given(places.filter(lambda asked: len(set(asked)) > 1))
def test_ranks_that_are_all_on_one_host_are_refused(asked: list[str]) -> None:
    with pytest.raises(EnvironmentLacksError):
        check_placement(asked, ["h1"] * len(asked))


def test_without_hosts_ranks_must_be_on_this_machine() -> None:
    check_placement((), [HERE, HERE])
    check_placement((), [f"{HERE.partition('.')[0]}.cluster.example"])


@pytest.mark.parametrize(
    ("asked", "found", "words"),
    [
        (["h1", "h2"], ["h2", "h1"], "rank 0 should be on h1, but is on h2"),
        (["h1", "h1"], ["h1", "h2"], "rank 1 should be on h1, but is on h2"),
        (["h1", "h2"], ["n7", "n7"], "rank 1 should be on h2, but is on n7, like ranks meant for h1"),
        ([], [HERE, "other"], f"rank 1 should be on this machine, {HERE}, but is on other"),
        ([], ["other", "other"], f"rank 0 should be on this machine, {HERE}, but is on other"),
    ],
)
def test_the_first_misplaced_rank_is_named(asked: list[str], found: list[str], words: str) -> None:
    with pytest.raises(EnvironmentLacksError) as caught:
        check_placement(asked, found)
    assert caught.value.sentence == words
