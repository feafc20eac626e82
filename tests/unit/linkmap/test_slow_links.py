"""Who is called slow: nobody on uniform networks beyond the stated rate, and on others just the culprit."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpigauge.linkmap.slow_links import ERROR_RATE, FACTOR, Blame, blame, groups_of

Values = npt.NDArray[np.float64]
LAUNCHES = 5
NOISES = ("quiet", "normal", "heavy", "bursts")


def noise(random: np.random.Generator, kind: str, shape: tuple[int, int]) -> Values:
    """Of the logarithm of a launch median."""
    if kind == "quiet":
        return random.normal(0, 0.001, shape)
    if kind == "heavy":
        return 0.05 * random.standard_t(3, shape)
    values = random.normal(0, 0.04, shape)
    if kind == "bursts":
        struck = random.random(shape) < 0.05
        values[struck] += random.exponential(0.5, int(struck.sum()))
    return values


def network(hosts: int, launches: int = LAUNCHES, kind: str = "normal", seed: int = 0) -> Values:
    """A uniform one: launches differ as a whole, links by noise, and hosts may be disturbed."""
    random = np.random.default_rng([seed, hosts, launches, NOISES.index(kind)])
    i, j = np.triu_indices(hosts, 1)
    values = noise(random, kind, (launches, i.size)) + random.normal(0, 0.1, (launches, 1))
    if kind == "bursts":
        busy = np.where(random.random((launches, hosts)) < 0.02, 0.4, 0.0)
        values += busy[:, i] + busy[:, j]
    logs = np.full((launches, hosts, hosts), np.nan)
    logs[:, i, j] = logs[:, j, i] = values - 13
    return logs


def slow_link(logs: Values, i: int, j: int, factor: float) -> Values:
    """The same with a link that takes `factor` times as long."""
    logs = logs.copy()
    logs[:, i, j] += math.log(factor)
    logs[:, j, i] += math.log(factor)
    return logs


def slow_host(logs: Values, host: int, factor: float) -> Values:
    """The same with a host all of whose links take `factor` times as long."""
    logs = logs.copy()
    logs[:, host, :] += math.log(factor)
    logs[:, :, host] += math.log(factor)
    return logs


def switches(logs: Values, groups: list[list[int]], factor: float) -> Values:
    """The same with what is `factor` times as far from group to group."""
    logs = logs.copy()
    group_of = {host: number for number, group in enumerate(groups) for host in group}
    for i in range(logs.shape[1]):
        for j in range(logs.shape[1]):
            if group_of[i] != group_of[j]:
                logs[:, i, j] += math.log(factor)
    return logs


def judged(logs: Values, error_rate: float = ERROR_RATE) -> Blame:
    """By the rule, as of a map of this one quantity."""
    hosts = logs.shape[1]
    return blame(logs, groups_of(logs), FACTOR, error_rate / (hosts * (hosts + 1) / 2))


def enough(found: Blame, launches: int) -> bool:
    """Whether what is slow in all of so many launches can be told from chance."""
    return found.launches_needed is not None and found.launches_needed <= launches


# ---- Uniform networks ----------------------------------------------------------------------------


@pytest.mark.truth
@pytest.mark.parametrize("kind", NOISES)
@pytest.mark.parametrize(("hosts", "per_example"), [(3, 10), (4, 10), (8, 10), (16, 5)])
def test_a_uniform_network_is_called_slow_no_more_often_than_stated(
    hosts: int, per_example: int, kind: str
) -> None:
    maps = per_example * settings().max_examples
    found = [judged(network(hosts, kind=kind, seed=seed)) for seed in range(maps)]
    false = sum(1 for one in found if one.links or one.hosts)
    assert false <= max(1, ERROR_RATE * maps)
    assert sum(enough(one, LAUNCHES) for one in found) >= 0.8 * maps


@pytest.mark.truth
@pytest.mark.parametrize("hosts", [3, 4, 8])
@pytest.mark.parametrize("spread", [0.15, 0.3])
def test_links_that_vary_as_much_as_what_is_asked_for_are_called_slow_no_more_often(
    hosts: int, spread: float
) -> None:
    """Here chance does exceed the threshold. Of 1000 maps each at most 0.4 % had anything called slow."""
    generator = np.random.default_rng([hosts, round(100 * spread)])
    i, j = np.triu_indices(hosts, 1)
    false = 0
    for _ in range(100):
        logs = np.full((LAUNCHES, hosts, hosts), np.nan)
        logs[:, i, j] = logs[:, j, i] = generator.normal(0, spread, (LAUNCHES, i.size))
        found = judged(logs)
        false += bool(found.links or found.hosts)
    assert false <= 100 * (ERROR_RATE + 3 * math.sqrt(ERROR_RATE / 100))


def test_only_slow_launches_tell_how_often_chance_makes_a_link_slow() -> None:
    """Launches that are fast now and then are no reason for more of them."""
    generator = np.random.default_rng(5)
    steady = network(8)
    often_fast = steady.copy()
    for launch, host in zip(range(LAUNCHES), generator.permutation(8), strict=False):
        often_fast[launch] = slow_link(often_fast, host, (host + 1) % 8, 0.4)[launch]
    assert judged(often_fast).launches_needed == judged(steady).launches_needed


@pytest.mark.parametrize("hosts", [4, 8, 16])
def test_a_perfectly_quiet_map_blames_nobody_for_a_trifle(hosts: int) -> None:
    logs = slow_host(slow_link(np.zeros((LAUNCHES, hosts, hosts)) - 13.0, 0, 1, 1.001), 2, 1.01)
    assert not judged(logs).links | judged(logs).hosts


def test_links_that_all_differ_by_nature_are_hardly_ever_slow_in_places() -> None:
    """Not a uniform network: the rate that is stated does not hold, but a wide spread is no crime."""
    random = np.random.default_rng(4)
    named = 0
    for seed in range(50):
        own = np.triu(random.normal(0, 0.15, (12, 12)), 1)
        found = judged(network(12, seed=seed) + own + own.T)
        named += bool(found.links or found.hosts)
        assert found.threshold > FACTOR
    assert named <= 2


# ---- Culprits ------------------------------------------------------------------------------------


@pytest.mark.truth
@pytest.mark.parametrize("kind", NOISES)
@pytest.mark.parametrize("hosts", [3, 4, 5, 8, 16])
@pytest.mark.parametrize("factor", [3.0, 10.0])
def test_one_slow_link_is_named_and_nothing_else(hosts: int, kind: str, factor: float) -> None:
    for seed in range(20):
        found = judged(slow_link(network(hosts, 8, kind, seed), 1, 2, factor))
        assert set(found.links) == {(1, 2)}
        assert not found.hosts
        assert found.links[1, 2].factor == pytest.approx(factor, rel=0.3)


@pytest.mark.truth
@pytest.mark.parametrize("kind", NOISES)
@pytest.mark.parametrize("hosts", [3, 4, 5, 8, 16])
def test_one_slow_host_is_named_and_none_of_its_links(hosts: int, kind: str) -> None:
    for seed in range(20):
        found = judged(slow_host(network(hosts, 8, kind, seed), 2, 3.0))
        assert set(found.hosts) == {2}
        assert not found.links
        assert found.hosts[2].factor == pytest.approx(3.0, rel=0.3)


def test_a_slow_host_and_a_slow_link_elsewhere_are_both_named() -> None:
    found = judged(slow_link(slow_host(network(8), 2, 3.0), 5, 6, 4.0))
    assert set(found.hosts) == {2}
    assert set(found.links) == {(5, 6)}


def test_a_slow_host_is_blamed_for_a_link_only_if_that_is_slower_still() -> None:
    found = judged(slow_link(slow_host(network(8), 2, 3.0), 2, 6, 4.0))
    assert set(found.hosts) == {2}
    assert {link: extent.factor for link, extent in found.links.items()} == {
        (2, 6): pytest.approx(4.0, rel=0.2)
    }


def test_a_host_with_two_slow_links_of_three_is_not_slow_but_they_are() -> None:
    found = judged(slow_link(slow_link(network(4), 0, 1, 5.0), 0, 2, 5.0))
    assert set(found.links) == {(0, 1), (0, 2)}
    assert not found.hosts


def test_two_slow_hosts_are_named() -> None:
    found = judged(slow_host(slow_host(network(8), 2, 3.0), 7, 2.0))
    assert set(found.hosts) == {2, 7}
    assert not found.links


def test_a_fast_link_is_no_fault() -> None:
    found = judged(slow_link(network(6), 0, 3, 0.2))
    assert not found.links | found.hosts


def test_what_happens_in_one_launch_only_is_not_slow() -> None:
    logs = network(8)
    logs[2] = slow_link(logs, 0, 1, 20.0)[2]
    found = judged(logs)
    assert not found.links | found.suspects


def test_what_happens_in_most_launches_of_few_is_a_suspect() -> None:
    logs = network(4, 4, "bursts")
    logs[:3] = slow_link(logs, 0, 1, 3.0)[:3]
    found = judged(logs, 1e-4)
    assert not found.links
    assert set(found.suspects) == {(0, 1)}


STRUCK = st.sets(st.integers(0, 9), min_size=3)
"""Launches of ten in which something is slow."""


@settings(derandomize=True, deadline=None)
@given(STRUCK, st.floats(2, 20), st.integers(0, 999))
def test_a_flaky_link_is_named_with_its_launches_and_what_it_takes_in_these(
    struck: set[int], factor: float, seed: int
) -> None:
    """A broken cable is slow in all, a loose one in some: no number lies between slow and usual."""
    logs = network(8, 10, seed=seed)
    logs[[*struck]] = slow_link(logs, 1, 2, factor)[[*struck]]
    found = judged(logs)
    assert not found.hosts
    ((ends, extent),) = found.links.items()
    assert (ends, extent.launches, extent.slow) == ((1, 2), 10, len(struck))
    assert extent.flaky == (len(struck) < 10)
    assert extent.factor == pytest.approx(factor, rel=0.15)


@settings(derandomize=True, deadline=None)
@given(STRUCK, st.floats(2, 20), st.integers(0, 999))
def test_a_flaky_host_is_named_and_none_of_its_links(struck: set[int], factor: float, seed: int) -> None:
    logs = network(8, 10, seed=seed)
    logs[[*struck]] = slow_host(logs, 5, factor)[[*struck]]
    found = judged(logs)
    assert not found.links
    ((host, extent),) = found.hosts.items()
    assert (host, extent.launches, extent.slow) == (5, 10, len(struck))
    assert extent.factor == pytest.approx(factor, rel=0.15)


def test_a_flaky_host_does_not_hide_a_flaky_link_elsewhere() -> None:
    """What a host that is named did is no chance of other links."""
    logs = network(8, 10)
    logs[:4] = slow_host(logs, 5, 3.0)[:4]
    logs[6:] = slow_link(logs, 0, 1, 3.0)[6:]
    found = judged(logs)
    assert set(found.hosts) == {5}
    assert set(found.links) == {(0, 1)}


def test_a_host_with_two_flaky_links_is_not_slow_but_they_are() -> None:
    logs = network(6, 10)
    logs[:5] = slow_link(slow_link(logs, 0, 1, 3.0), 0, 2, 3.0)[:5]
    found = judged(logs)
    assert not found.hosts
    assert {link: extent.slow for link, extent in found.links.items()} == {(0, 1): 5, (0, 2): 5}


def test_what_is_slow_in_so_few_launches_that_chance_may_do_it_is_no_clean_bill() -> None:
    """Nor is it blamed."""
    logs = network(8, 10)
    logs[:2] = slow_link(logs, 1, 2, 3.0)[:2]
    found = judged(logs)
    assert not found.links
    ((ends, extent),) = found.suspects.items()
    assert (ends, extent.slow, extent.launches) == ((1, 2), 2, 10)


def test_a_link_that_is_slow_by_less_than_is_asked_is_not_made_a_flaky_one_by_noise() -> None:
    """In a fifth of its launches it is beyond what is asked for, which others never are."""
    named = [judged(slow_link(network(6, 10, seed=seed), 1, 2, 1.2)).links for seed in range(100)]
    assert sum(map(bool, named)) <= 2


def test_a_link_that_is_slow_in_all_launches_is_not_flaky_where_some_are_just_below_the_threshold() -> None:
    extents = [
        judged(slow_link(network(6, 10, seed=seed), 1, 2, 1.35)).links.get((1, 2)) for seed in range(20)
    ]
    found = [extent for extent in extents if extent is not None]
    assert len(found) >= 18
    assert not any(extent.flaky for extent in found)
    assert np.mean([extent.factor for extent in found]) == pytest.approx(1.35, rel=0.04)


# ---- Structure -----------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [1.5, 3.0, 30.0])
@pytest.mark.parametrize("groups", [[[0, 1, 2, 3], [4, 5, 6, 7]], [[0, 4], [1, 2, 3, 5]], [[0, 1], [2, 3]]])
def test_hosts_behind_two_switches_are_grouped_and_not_blamed(groups: list[list[int]], factor: float) -> None:
    for seed in range(20):
        logs = switches(network(sum(map(len, groups)), seed=seed), groups, factor)
        assert groups_of(logs) == groups
        found = judged(logs)
        assert not found.links | found.hosts


@pytest.mark.truth
def test_culprits_are_found_behind_two_switches() -> None:
    groups = [[0, 1, 2, 3], [4, 5, 6, 7]]
    for seed in range(20):
        plain = switches(network(8, seed=seed), groups, 4.0)
        inside = judged(slow_link(plain, 0, 1, 2.0))
        between = judged(slow_link(plain, 0, 5, 2.0))
        host = judged(slow_host(plain, 6, 2.0))
        assert (set(inside.links), set(inside.hosts)) == ({(0, 1)}, set())
        assert (set(between.links), set(between.hosts)) == ({(0, 5)}, set())
        assert (set(host.links), set(host.hosts)) == (set(), {6})


def test_a_slow_host_is_no_group_of_its_own() -> None:
    assert groups_of(slow_host(network(6), 3, 10.0)) == [list(range(6))]
    groups = [[0, 1, 2], [3, 4, 5]]
    logs = slow_host(switches(network(6), groups, 3.0), 4, 10.0)
    assert groups_of(logs) == groups


def test_three_switches_in_a_row_are_not_blamed() -> None:
    logs = switches(
        switches(network(9), [[0, 1, 2], list(range(3, 9))], 2.0), [list(range(6)), [6, 7, 8]], 2.0
    )
    assert groups_of(logs) == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    assert not judged(logs).links | judged(logs).hosts


# ---- What cannot be told -------------------------------------------------------------------------


def test_two_hosts_tell_nothing() -> None:
    found = judged(network(2))
    assert found.launches_needed is None


@pytest.mark.parametrize("hosts", [3, 4, 8])
def test_with_the_launches_that_it_asks_for_it_can_be_told(hosts: int) -> None:
    found = judged(slow_link(network(hosts, 2, "quiet"), 0, 1, 10.0))
    assert not enough(found, 2)
    assert not found.links
    assert found.launches_needed is not None
    again = judged(slow_link(network(hosts, found.launches_needed, "quiet"), 0, 1, 10.0))
    assert enough(again, found.launches_needed)
    assert set(again.links) == {(0, 1)}


@settings(derandomize=True, deadline=None)
@given(st.integers(3, 9), st.integers(1, 6), st.integers(0, 2**30), st.floats(0, 1))
def test_whatever_is_missing_it_never_fails(hosts: int, launches: int, seed: int, share: float) -> None:
    logs = network(hosts, launches, "heavy", seed % 1000)
    lost = np.triu(np.random.default_rng(seed).random(logs.shape) < share)
    logs[lost | lost.transpose(0, 2, 1)] = np.nan
    found = judged(logs)
    assert sorted(host for group in groups_of(logs) for host in group) == list(range(hosts))
    named = [*found.links.values(), *found.hosts.values(), *found.suspects.values()]
    assert all(extent.factor > FACTOR for extent in named)
    assert all(1 <= extent.slow <= extent.launches <= launches for extent in named)


def test_a_host_of_which_nothing_is_known_leaves_the_others_judged() -> None:
    logs = slow_link(network(8), 0, 1, 5.0)
    logs[:, 7, :] = logs[:, :, 7] = np.nan
    found = judged(logs)
    assert set(found.links) == {(0, 1)}


@settings(derandomize=True, deadline=None)
@given(st.permutations(range(6)))
def test_names_do_not_matter(order: list[int]) -> None:
    logs = slow_link(slow_host(network(6), 2, 3.0), 0, 4, 5.0)
    found = judged(logs[:, order][:, :, order])
    assert {order[host] for host in found.hosts} == {2}
    assert {tuple(sorted((order[i], order[j]))) for i, j in found.links} == {(0, 4)}


def test_a_host_that_may_be_slow_is_one_suspect_and_not_one_a_link() -> None:
    rng = np.random.default_rng(7)
    logs = network(6, 3, "normal")
    noisy = logs + rng.normal(0, 0.25, logs.shape)
    noisy = (noisy + np.swapaxes(noisy, 1, 2)) / 2
    noisy[:, 2, :] += math.log(1.9)
    noisy[:, :, 2] += math.log(1.9)
    found = judged(noisy, 1e-4)
    assert not found.hosts
    assert not found.links
    assert {link for link in found.suspects if 2 in link} == {(2, 2)}
