"""Compressed lists of hosts: expanded as Slurm expands them, or refused in a sentence."""

from __future__ import annotations

import string

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.errors import UsageError
from mpigauge.plan.hosts import MAX_HOSTS, Host, expand_nodelist

LETTERS = st.text(string.ascii_letters + "._-", min_size=1, max_size=6)


@st.composite
def ranges(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A range as text, and its numbers."""
    first = draw(st.integers(0, 10**6))
    last = first + draw(st.integers(0, 4))
    width = draw(st.integers(0, 8))
    start = f"{first:0{width}}"
    numbers = [str(number).zfill(len(start)) for number in range(first, last + 1)]
    return (start if first == last else f"{start}-{str(last).zfill(width)}"), numbers


@st.composite
def names(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A name with up to two brackets as text, and what it stands for."""
    text = draw(LETTERS)
    hosts = [text]
    for _ in range(draw(st.integers(0, 2))):
        inside = draw(st.lists(ranges(), min_size=1, max_size=3))
        tail = draw(LETTERS | st.just(""))
        text += f"[{','.join(words for words, _ in inside)}]{tail}"
        hosts = [host + number + tail for host in hosts for _, numbers in inside for number in numbers]
    return text, hosts


@given(st.lists(names(), min_size=1, max_size=4))
def test_a_list_is_expanded_in_its_order(parts: list[tuple[str, list[str]]]) -> None:
    text = ",".join(words for words, _ in parts)
    assert expand_nodelist(text) == tuple(host for _, hosts in parts for host in hosts)


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("n1", "n1"),
        ("n[008-011,20]", "n008 n009 n010 n011 n20"),
        ("a[1-2]b[0-1],c", "a1b0 a1b1 a2b0 a2b1 c"),
        ("n[8-11]", "n8 n9 n10 n11"),
        ("n[1,3]-ib.site", "n1-ib.site n3-ib.site"),
        ("10.0.0.1,n2", "10.0.0.1 n2"),
    ],
)
def test_node_lists_expand_as_in_slurm(text: str, hosts: str) -> None:
    assert expand_nodelist(text) == tuple(hosts.split())


@pytest.mark.parametrize(
    "text",
    [
        "",
        ",",
        "a,",
        ",a",
        "a,,b",
        "a b",
        "a[",
        "a]",
        "a[]",
        "a[1-]",
        "a[-1]",
        "a[2-1]",
        "a[1-2-3]",
        "a[x]",
        "a[1",
        "a[[1]]",
        "a[1-2],b]",
        "a\nb",
        "n[1-99999999999]",
        "n[0-999]m[0-999]",
        "n[٣]",
    ],
)
def test_an_invalid_list_is_refused_with_a_message(text: str) -> None:
    with pytest.raises(UsageError, match="is not a list of hosts") as caught:
        expand_nodelist(text)
    assert "\n" not in caught.value.sentence


@given(st.text("abn019[]-, ", max_size=30))
def test_any_text_is_expanded_or_refused(text: str) -> None:
    try:
        hosts = expand_nodelist(text)
    except UsageError:
        return
    assert 1 <= len(hosts) <= MAX_HOSTS
    assert all(host and not set(host) & set("[], \n") for host in hosts)


@pytest.mark.parametrize("name", ["-oProxyCommand=touch it", "-c", "h1\n", "h1;touch", "", "a b", "$(touch)"])
def test_an_invalid_host_name_is_refused_in_a_file_too(name: str) -> None:
    """A result that somebody has sent names hosts, too."""
    assert msgspec.convert({"name": "node-1.example"}, Host) == Host("node-1.example")
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"name": name}, Host)
