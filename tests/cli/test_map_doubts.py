"""What a map's own numbers make doubtful is said on its screen: it never says more than it knows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.cli.maps import map_records, whole
from tests.made import written

if TYPE_CHECKING:
    from tests.conftest import Cli, Done

UNSETTLED = {
    "0-1": (107, 2335, 78.2, 1926, 71.7, 94.8, 84.6, 1358, 103, 117, 75.9, 87.2),
    "0-2": (1170, 139, 1937, 71.7, 1781, 86.2, 69.5, 86.7, 83.1, 115, 85.8, 125),
    "0-3": (75.7, 76.4, 1828, 1041, 96.5, 3055, 74.5, 89.4, 83.8, 127, 1832, 70.9),
    "1-2": (2000, 1560, 1821, 1037, 2771, 2927, 1829, 91.3, 83.7, 164, 1775, 89.9),
    "1-3": (4250, 987, 2964, 79.7, 98.3, 82.3, 82.3, 84.8, 120, 101, 326, 80.9),
    "2-3": (579, 1789, 79.3, 83.9, 72.7, 1862, 553, 83, 96.7, 169, 89, 78.7),
}
"""Latencies of a map on two cores that a relay shared: a link's middle is 16 times that of the others."""


@pytest.fixture
def unsettled(cli: Cli) -> Done:
    written("map.jsonl", *map_records(0, latencies_us=UNSETTLED))
    return cli("map", "map.jsonl")


def test_what_the_matrix_shows_to_be_far_off_is_never_called_as_usual(cli: Cli, unsettled: Done) -> None:
    assert unsettled.status == 5, unsettled.out
    assert "nothing is slow" not in unsettled.out
    (line,) = re.findall(r"^perhaps slow: .*(?:\n  .*)*", unsettled.out, re.MULTILINE)
    said = " ".join(line.split())
    assert said.startswith("perhaps slow: h2 \N{EN DASH} h3: 8 B takes 18")
    assert "times as long as usual in 9 of 12 launches (1.66 ms where 92.8 " in said
    (suspect,) = whole(cli("map", "map.jsonl", "--format", "json"))["suspects"]
    assert suspect["hosts"] == ["h2", "h3"]
    assert suspect["latency_slow_launches"] == 9


def test_beside_what_is_slow_stands_what_may_be(cli: Cli) -> None:
    """A link that is slow in all launches is no reason to be silent about another."""
    written(
        "map.jsonl", *map_records(0, lambda pair, _: 10.0 if pair == "0-3" else 1.0, latencies_us=UNSETTLED)
    )
    done = cli("map", "map.jsonl", "-q")
    assert done.status == 1
    assert re.findall(r"^(slow|perhaps slow|flaky)(?: link|:) (\S+ \S+ \S+):", done.out, re.MULTILINE) == [
        ("slow", "h1 \N{EN DASH} h4"),
        ("perhaps slow", "h2 \N{EN DASH} h3"),
    ]


def test_why_what_may_be_slow_is_not_called_so_stands_beside_what_is(cli: Cli) -> None:
    few = {pair: times[:5] for pair, times in UNSETTLED.items()}
    written("map.jsonl", *map_records(0, lambda pair, _: 10.0 if pair == "0-3" else 1.0, latencies_us=few))
    said = whole(cli("map", "map.jsonl", "--format", "json"))
    assert said["reasons"]
    done = cli("map", "map.jsonl", "-q")
    assert done.out.count("not certain: ") == len(said["reasons"])


def test_a_link_of_a_low_rate_is_no_failure_of_latency(cli: Cli) -> None:
    """By JUnit, of which a test case is a row of a matrix."""

    def factor(pair: str, size: int) -> float:
        return 10.0 if pair == "0-3" and size > 8 else 1.0

    written("map.jsonl", *map_records(0, factor))
    said = whole(cli("map", "map.jsonl", "--format", "json"))
    assert [(one["hosts"], one["latency_factor"]) for one in said["slow_links"]] == [(["h1", "h4"], None)]
    suite = cli("map", "map.jsonl", "--format", "junit").out
    failed = re.findall(r'<testcase classname="(\w+)[^"]*" name="(\w+)"\s*>\s*<failure', suite)
    assert failed == [("bandwidth", "h1"), ("bandwidth", "h4")]


def test_the_doubts_of_a_map_stand_on_its_screen_as_on_that_of_show(cli: Cli, unsettled: Done) -> None:
    """Of one list."""
    shown = doubts(cli("show", "map.jsonl"))
    assert any("launches are bimodal" in line for line in shown)
    assert doubts(unsettled) == shown
    assert doubts(cli("map", "map.jsonl", "--pair", "h2,h3"))
    assert not doubts(cli("map", "map.jsonl", "-q"))


def doubts(done: Done) -> list[str]:
    """The lines that begin with an exclamation mark."""
    return [line for line in done.out.splitlines() if line.startswith("! ")]
