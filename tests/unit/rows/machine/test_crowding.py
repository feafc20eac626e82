"""Ranks without a processor or a core of their own, by where they may run."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.result.cpu_lists import list_of, ranges
from mpigauge.result.kernel_data import RankPlace
from mpigauge.rows.machine.crowding import Crowd, crowd_of


def places(*cpus: str, cores: tuple[str, ...] = (), host: str = "n1", threads: int = 1) -> list[RankPlace]:
    """Ranks of a host that may run on these processors."""
    known = cores or ("",) * len(cpus)
    return [
        RankPlace(host, one, 0, 1, 25, 40, 0.0, cores=core, threads=threads)
        for one, core in zip(cpus, known, strict=True)
    ]


def crowd(*of: RankPlace) -> Crowd | None:
    """Of all these ranks."""
    return crowd_of(of, range(len(of)))


def test_two_ranks_on_one_processor_are_named_with_it() -> None:
    found = crowd(*places("0", "3", "3"))
    assert found == Crowd("processor", "n1", (1, 2), (3,), bound=True)


def test_more_free_ranks_than_processors_are_all_named() -> None:
    found = crowd(*places("0-1", "0-1", "0-1", "4"))
    assert found == Crowd("processor", "n1", (0, 1, 2), (0, 1), bound=False)


def test_a_bound_rank_takes_the_processor_of_free_ones() -> None:
    assert crowd(*places("0-1", "0")) is None
    assert crowd(*places("0-1", "0-1", "0-7")) is None
    found = crowd(*places("0-1", "0", "1", "0-7"))
    assert found is not None
    assert (found.ranks, found.cpus) == ((0, 1, 2), (0, 1))


def test_hosts_are_asked_one_by_one() -> None:
    assert crowd(*places("0", host="n1"), *places("0", host="n2")) is None
    found = crowd(*places("0", "1", host="n1"), *places("0", "0", host="n2"))
    assert found is not None
    assert (found.host, found.ranks) == ("n2", (2, 3))


def test_hardware_threads_of_a_core_are_a_mark_of_their_own() -> None:
    found = crowd(*places("0", "2", cores=("0", "0")))
    assert found == Crowd("core", "n1", (0, 1), (0, 2), bound=True)
    assert crowd(*places("0-3", "0-3", cores=("0-1", "0-1"))) is None
    assert crowd(*places("0-3", "0-3", "0-3", cores=("0-1",) * 3)) is not None
    worse = crowd(*places("0", "0", cores=("0", "0")))
    assert worse is not None
    assert worse.lacks == "processor"


def test_threads_that_look_for_messages_need_processors_too() -> None:
    assert crowd(*places("0-3", "0-3", threads=2)) is None
    found = crowd(*places("0-1", "0-1", threads=2))
    assert found == Crowd("processor", "n1", (0, 1), (0, 1), bound=False, threads=2)


@pytest.mark.parametrize("text", ["", "nonsense", "0-99999999", "0,...", "0," * 119 + "0"])
def test_what_is_not_known_is_not_held_against_anybody(text: str) -> None:
    assert crowd(*places(text, text, "5")) is None
    assert crowd_of(places("0"), range(9)) is None


def test_ranks_that_sleep_do_not_count() -> None:
    assert crowd_of(places("0", "1", "1"), (0, 1)) is None
    assert crowd_of(places("0", "1", "1"), (1, 2)) is not None


@given(st.lists(st.sets(st.integers(0, 4), min_size=1), min_size=1, max_size=5))
def test_it_is_found_if_and_only_if_no_choice_gives_each_its_own(sets: list[set[int]]) -> None:
    fits = any(len(set(choice)) == len(sets) for choice in product(*sets))
    found = crowd(*places(*(list_of(sorted(one)) for one in sets)))
    assert (found is None) == fits
    if found is not None:
        union = set().union(*(sets[rank] for rank in found.ranks))
        assert set(found.cpus) == union
        assert len(union) < len(found.ranks)


@given(st.sets(st.integers(0, 300)))
def test_a_list_can_be_read_again(numbers: set[int]) -> None:
    assert {one for part in ranges(list_of(sorted(numbers))) for one in part} == numbers
