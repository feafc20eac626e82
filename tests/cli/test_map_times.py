"""Beside what a map calls slow stand its times and the usual ones, by the fake kernel's law."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.cli.maps import mapped, whole

if TYPE_CHECKING:
    from tests.conftest import Cli

pytestmark = pytest.mark.usefixtures("little_noise")


def in_seconds(words: str) -> float:
    number, unit = words.split()
    return float(number) * {"ns": 1e-9, "\N{MICRO SIGN}s": 1e-6, "ms": 1e-3}[unit]


@pytest.mark.parametrize(
    ("slow", "hosts", "odd"), [("2:3", "h[1-4]", ["h3"]), ("1:3 5:3", "h[1-4]:2", ["h2"])]
)
def test_beside_what_is_slow_stand_its_times_and_the_usual_ones(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, slow: str, hosts: str, odd: list[str]
) -> None:
    monkeypatch.setenv("FAKE_SLOW", slow)
    ranks = 8 if ":" in hosts else 4
    said = whole(mapped(cli, "--np", ranks, "--sizes", 8, "--format", "json", "-o", "m.jsonl", hosts=hosts))
    assert [host["host"] for host in said["slow_hosts"]] == odd
    (line,) = cli("map", "m.jsonl", "-q").out.splitlines()
    found = re.search(r"\((\S+ \S+)(?: to (\S+ \S+))? where (\S+ \S+)(?: to (\S+ \S+))? is usual\)$", line)
    assert found, line
    least, most, usual_least, usual_most = (in_seconds(words) if words else None for words in found.groups())
    assert least is not None
    assert usual_least is not None
    assert least / (usual_most or usual_least) > 2
    assert (most or least) / usual_least < 5


def test_a_link_between_two_slow_hosts_is_beside_neither(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes what both cost together: 100 times as long here, and no host is said to."""
    monkeypatch.setenv("FAKE_SLOW", "1:50 4:2")
    mapped(cli, "--np", 6, "--sizes", 8, "-o", "m.jsonl", hosts="h[1-6]")
    lines = {line.partition(":")[0]: line for line in cli("map", "m.jsonl", "-q").out.splitlines()}
    (least, most) = _around(lines["slow host h5"])
    assert most < 1.5 * least


def _around(line: str) -> tuple[float, float]:
    """The times of a slow host, in seconds."""
    found = re.search(r"\((\S+ \S+?)(?: to (\S+ \S+))? where ", line)
    assert found, line
    return in_seconds(found[1]), in_seconds(found[2] or found[1])
