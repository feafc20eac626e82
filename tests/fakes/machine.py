"""The machine that the fake kernel runs on: its hosts, how slow they are, its states, what disturbs it."""

from __future__ import annotations

import os
import zlib

from tests.fakes.plan import members_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LINE_NS, CHAIN_NS = 60.0, 2000.0
READING_SPREAD = 0.01
SPEEDS_APART = 1896 / 1735
FOLLOWS_SPEED = 0.8
"""Of a change of speed, as a power of it, what a message follows."""


def slowness(pair: str, luck: float) -> float:
    """How many times longer a pair takes than the law says, in a launch whose luck is between 0 and 1."""
    factor = 1.0
    for word in os.environ.get("FAKE_SLOW", "").split():
        who, times, share = [*word.split(":"), "1"][:3]
        struck = pair and who in {pair, *pair.split("-")} and luck <= float(share)
        factor *= float(times) if struck else 1.0
    return factor


def is_meant(name: str, visit: dict[str, Any]) -> bool:
    """Whether a trouble is set for this visit's cell."""
    cell = f"{visit['pattern']}:{visit['bytes']}"
    group = ",".join(map(str, visit["members"])) if visit["members"] else ""
    return os.environ.get(name) in {cell, f"{cell}:{visit['pair']}", f"{cell}:{group}"}


def beside(visit: dict[str, Any], groups: int) -> float:
    """How many times as long a group takes beside others, of so many at once."""
    factor = float(os.environ.get("FAKE_AT_ONCE", "1")) if groups > 1 and visit["members"] else 1.0
    slowest, _, times = os.environ.get("FAKE_SLOW_GROUP", ":1").rpartition(":")
    alike = bool(visit["members"]) and ",".join(map(str, visit["members"])) == slowest
    return factor * (float(times) if alike and groups > 1 else 1.0)


def of_mode(visit: dict[str, Any]) -> float:
    """How many times as long a mode takes."""
    pattern, mode, factor = os.environ.get("FAKE_MODE", "::1").split(":")
    return float(factor) if (pattern, mode) == (visit["pattern"], visit["mode"]) else 1.0


class Course:
    """The states that the machine is in, one after the other; it begins somewhere among them.

    Args:
        text: As FAKE_STATES has it; nothing for one state.
        visits: Of the launch, which decide where it begins.
    """

    def __init__(self, text: str, visits: list[dict[str, Any]]) -> None:
        parts = [word.split(":")[1:] for word in text.split(",") if word]
        self.states = [(float(line), float(factor), float(dwell)) for line, factor, dwell in parts]
        self.whole_s = sum(dwell for _, _, dwell in self.states)
        begin = chance("begin", *(f"{v['id']} {v['pattern']} {v['bytes']}" for v in visits))
        self.begin_s = (begin + 1) / 2 * self.whole_s

    def line_ns(self, now_ns: int) -> float:
        """What handing over a line takes."""
        return self._at(now_ns)[0]

    def factor(self, now_ns: int) -> float:
        """How many times as long small messages take."""
        return self._at(now_ns)[1]

    def _at(self, now_ns: int) -> tuple[float, float]:
        left_s = (self.begin_s + now_ns * 1e-9) % self.whole_s if self.states else 0.0
        for line, factor, dwell in self.states:
            if left_s < dwell:
                return line, factor
            left_s -= dwell
        return LINE_NS, 1.0


class Levels:
    """How a launch differs from the others, and for how much of the time its cores are at the lower speed.

    Args:
        file: As FAKE_LEVELS names it; its first line is this launch's, and goes. Nothing if all are alike.
    """

    def __init__(self, file: str) -> None:
        self.factor, self.slow_share = 1.0, 0.0
        if not file:
            return
        with open(file, encoding="ascii") as lines:  # noqa: PTH123 - pathlib takes longer to import than a launch
            mine, *others = lines
        with open(file, "w", encoding="ascii") as lines:  # noqa: PTH123
            lines.writelines(others)
        self.factor, self.slow_share = map(float, mine.split())

    def slower(self, visit: dict[str, Any]) -> float:
        """How many times as long as at the higher speed a chain of arithmetic takes during a visit."""
        return (
            SPEEDS_APART if (chance("speed", visit["id"], visit["cell"]) + 1) / 2 < self.slow_share else 1.0
        )


def condition(
    visit: dict[str, Any],
    ranks: int,
    latency_ns: int,
    lines_ns: list[float],
    elapsed_ns: int,
    slower: float = 1.0,
) -> list[str]:
    """The machine before and after the samples; nobody disturbs them, unless that is asked for."""
    members = members_of(visit) or range(ranks)
    on = [host_of(rank) for rank in members]
    words = []
    if len(set(on)) < len(on):
        lines = _readings(visit, lines_ns)
        words += [f'"line_ns":{lines},"line_worst_ns":{lines}']
    if len(set(on)) > 1:
        words += [f'"path_ns":{_readings(visit, [latency_ns, latency_ns])}']
    wait_ns = elapsed_ns // 10 if is_meant("FAKE_DISTURB", visit) else 0
    chain_ns = slower * CHAIN_NS
    wide_ns = 2 * chain_ns if is_meant("FAKE_NEIGHBOUR", visit) else chain_ns
    words += [f'"alu_ns":[{chain_ns:.1f},{chain_ns:.1f}],"issue_ns":[{wide_ns:.1f},{wide_ns:.1f}]']
    words += [f'"switches":{int(wait_ns > 0)},"wait_ns":{wait_ns}']
    words += ['"steal_ns":0,"moves":0']
    return [*words, '"retransmits":0'] if len(set(on)) > 1 else words


def _readings(visit: dict[str, Any], values_ns: list[float]) -> str:
    """Before and after a visit, never quite the same."""
    spread = [1 + READING_SPREAD * chance("reading", visit["id"], place) for place in range(2)]
    return "[" + ",".join(f"{ns * by:.1f}" for ns, by in zip(values_ns, spread, strict=True)) + "]"


def host_of(rank: int) -> str:
    hosts = os.environ.get("FAKE_HOSTS", os.uname().nodename).split(",")
    return hosts[rank % len(hosts)]


def chance(*key: object) -> float:
    """Between -1 and 1, the same for the same key."""
    text = "/".join(map(str, key))
    return float(zlib.crc32(f"{zlib.crc32(text.encode())}".encode()) / 2**31 - 1)
