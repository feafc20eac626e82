"""Hosts as users write them, and where their rules put ranks."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpigauge.errors import UsageError
from mpigauge.plan.hosts import Host, hosts_of, placement_of, places_of, ranks_of
from mpigauge.vocabulary import DIFFERENT_HOSTS, SAME_HOST

if TYPE_CHECKING:
    from pathlib import Path

repeatable = settings(derandomize=True, deadline=None)
names = st.from_regex(r"[a-z][a-z0-9-]{0,10}(\.[a-z]{1,5})?", fullmatch=True)
hosts = st.dictionaries(names, st.integers(1, 64), min_size=1, max_size=12).map(
    lambda slots: tuple(Host(*item) for item in slots.items())
)
H = (Host("h1", 2), Host("h2", 1), Host("h3", 2))


# ---- Lists and files -----------------------------------------------------------------------------


@repeatable
@given(hosts)
def test_a_list_names_hosts_with_their_slots(given_: tuple[Host, ...]) -> None:
    assert hosts_of(",".join(f"{host.name}:{host.slots}" for host in given_)) == given_
    assert hosts_of(",".join(host.name for host in given_ for _ in range(host.slots))) == given_


@repeatable
@given(given_=hosts)
def test_the_three_kinds_of_machine_file_say_the_same(
    given_: tuple[Host, ...], tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("machines") / "file"
    for lines in (
        [f"{host.name} slots={host.slots} max_slots=99  # {host}\n" for host in given_],
        [f"{host.name}:{host.slots}\n\n" for host in given_],
        [f"{host.name}\n" * host.slots for host in given_],
    ):
        file.write_text("# all of them\n" + "".join(lines), encoding="utf-8")
        assert hosts_of(str(file)) == given_


def test_compressed_names_may_have_slots() -> None:
    assert hosts_of("n[08-10]:2,login") == (Host("n08", 2), Host("n09", 2), Host("n10", 2), Host("login"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not a list of hosts"),
        ("h1,,h2", "not a list of hosts"),
        ("h1:0", "'0' is not a number of slots for h1"),
        ("h1:x", "'x' is not a number of slots for h1"),
        ("h1:99999", "'99999' is not a number of slots"),
        ("-oProxyCommand=x", "is not a host name"),
        ("$(reboot)", "is not a host name"),
        ("h1;reboot", "is not a host name"),
        ("./none", "none: cannot be read"),
    ],
)
def test_an_invalid_host_list_gets_a_message(text: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        hosts_of(text)
    assert words in caught.value.sentence


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"h1\nh2:no\n", "line 2: 'no' is not a number"),
        (b"# nothing\n", "names no hosts"),
        (b"\xff\xfe", "is not UTF-8"),
    ],
)
def test_a_machine_file_is_named_with_its_line(content: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / "machines").write_bytes(content)
    with pytest.raises(UsageError) as caught:
        hosts_of(str(tmp_path / "machines"))
    assert str(tmp_path / "machines") in caught.value.sentence
    assert words in caught.value.sentence


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("me@h1:2", "'me@h1:2' names a user"),
        ("h1,::1", "'::1' is an IPv6 address"),
        ("fe80::1:2", "'fe80::1:2' is an IPv6 address"),
    ],
)
def test_a_host_that_only_ssh_understands_is_refused(text: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        hosts_of(text)
    assert words in caught.value.sentence
    assert "~/.ssh/config" in caught.value.hint


# ---- Placement -----------------------------------------------------------------------------------


@repeatable
@given(hosts, st.data())
def test_one_host_takes_all_that_it_has_slots_for(given_: tuple[Host, ...], data: st.DataObject) -> None:
    ranks = data.draw(st.integers(1, max(host.slots for host in given_)))
    places = places_of(SAME_HOST, given_, ranks, "the test")
    assert len(places) == ranks
    (name,) = set(places)
    assert {host.name: host.slots for host in given_}[name] >= ranks


@repeatable
@given(hosts.filter(lambda given_: len(given_) > 1), st.data())
def test_different_hosts_are_used_evenly_and_within_their_slots(
    given_: tuple[Host, ...], data: st.DataObject
) -> None:
    ranks = data.draw(st.integers(1, sum(host.slots for host in given_)))
    counts = Counter(places_of(DIFFERENT_HOSTS, given_, ranks, "the test"))
    assert counts.total() == ranks
    assert all(counts[host.name] <= host.slots for host in given_)
    most = max(counts.values())
    assert all(counts[host.name] in (host.slots, most, most - 1) for host in given_)


def test_neighbours_are_on_different_hosts() -> None:
    assert places_of(DIFFERENT_HOSTS, H, 5, "the test") == ("h1", "h2", "h3", "h1", "h3")


def test_a_list_is_what_it_says_and_may_be_of_numbers() -> None:
    assert placement_of("1,3", H, "the test") == placement_of("h1, h3", H, "the test") == "h1,h3"
    assert places_of("h1,h3", H, 2, "the test") == ("h1", "h3")
    assert (ranks_of("h1,h3"), ranks_of(SAME_HOST), ranks_of(DIFFERENT_HOSTS)) == (2, None, None)


def test_without_hosts_ranks_are_on_this_machine() -> None:
    assert places_of(placement_of(SAME_HOST, (), "the test"), (), 8, "the test") == ()


@pytest.mark.parametrize(
    ("placement", "hosts_", "ranks", "words"),
    [
        (DIFFERENT_HOSTS, (), 2, "needs hosts"),
        ("h1,h2", (), 2, "needs hosts"),
        ("h1,h9", H, 2, "'h9' is not one of the hosts h1,h2,h3"),
        ("1,4", H, 2, "'4' is not one of the hosts"),
        ("0,1", H, 2, "'0' is not one of the hosts"),
        (SAME_HOST, H, 3, "no single host has slots for 3 ranks"),
        (DIFFERENT_HOSTS, H, 6, "have 5 slots, not 6"),
        (DIFFERENT_HOSTS, H[:1], 2, "h1 is the only host"),
    ],
)
def test_an_impossible_placement_gets_a_message(
    placement: str, hosts_: tuple[Host, ...], ranks: int, words: str
) -> None:
    with pytest.raises(UsageError) as caught:
        places_of(placement_of(placement, hosts_, "the test"), hosts_, ranks, "the test")
    assert "the test: " in caught.value.sentence
    assert words in caught.value.sentence


@pytest.mark.parametrize("placement", ["h1,-oProxyCommand=touch it", "h1,h9", ""])
def test_ranks_are_placed_on_listed_hosts_only(placement: str) -> None:
    """Whatever the cells of a result that somebody has sent name."""
    with pytest.raises(UsageError, match="is not one of the hosts h1,h2,h3"):
        places_of(placement, H, 2, "the test")


@pytest.mark.parametrize("hosts_", [(), H], ids=["here", "hosts"])
def test_objects_of_launcher_mappings_are_not_placements(hosts_: tuple[Host, ...]) -> None:
    """Naming hosts would not make it one; a host of that name is."""
    with pytest.raises(UsageError, match="socket is no placement") as caught:
        placement_of("socket", hosts_, "the test")
    assert "--bind core" in caught.value.hint
    assert "--mpi-option --map-by --mpi-option socket" in caught.value.hint
    assert placement_of("socket", (*hosts_, Host("socket")), "the test") == "socket"
