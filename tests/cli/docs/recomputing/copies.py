"""A message in units of copies of its size, in sentences."""

# ruff: noqa: RUF001 - pages print dashes and signs of their own

from __future__ import annotations

import math
import re
from itertools import takewhile
from typing import TYPE_CHECKING

from tests.cli.docs.recomputing.contrasts import SPAN, N, T
from tests.cli.docs.recomputing.curves import find_curve
from tests.cli.docs.recomputing.sentences import launches, numbers, stick_of, talking
from tests.cli.docs.recomputing.statistics_of import Interval, ratio

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.cli.docs.recomputing.ledger import Said
    from tests.cli.docs.recomputing.reading import Result, Row

COPIES = re.compile(r"^(.*?) / (\w+ \w+): ")
COST = re.compile(rf"({N}) copies(?: \(({N}) – ({N})\))? at {SPAN}, {T}(?: for {T})?")
BELOW = re.compile(
    rf"below (10|2) from {SPAN}(?: \(for certain(?: from {SPAN})?(?: up to {SPAN})?\))?(?: up to {SPAN})?"
)
NEVER = re.compile(rf"below (10|2) at no size up to {SPAN}")


def copies(said: Said, result: Result) -> bool:
    """A message in copies of its size."""
    head = COPIES.match(said.text)
    curve = find_curve(talking(result), head[1]) if head else None
    if head is None or curve is None:
        return False
    pairs = [(row, stick_of(result, row, head[2])) for row in curve if row.bytes > 0]
    known = [(row, stick, ratio(row.times, stick.times, alike=True)) for row, stick in pairs if stick]
    told = [(row, stick, one) for row, stick, one in known if one is not None and _tells(one)]
    said.known(head.span())
    least = min(range(len(told)), key=lambda place: told[place][2].estimate)
    for match, (row, stick, one) in zip(COST.finditer(said.text), (told[0], told[least]), strict=False):
        numbers(said, match, 1, "", one)
        said.size(match.span(4), row.bytes)
        said.number(match.span(5), match[6], row.seconds)
        if match[7]:
            said.number(match.span(7), match[8], stick.seconds)
    for match in BELOW.finditer(said.text):
        said.known(match.span(1))
        _below(said, match, told, least)
    for match in NEVER.finditer(said.text):
        limit = max(one for one in (10, 2) if min(own.low or 0 for _, _, own in told) > one)
        said.number(match.span(1), "", limit)
        said.size(match.span(2), told[-1][0].bytes)
    launches(said, min(told[0][2].launches, told[least][2].launches))
    return True


def _tells(one: Interval) -> bool:
    return bool(one.low and one.high and one.estimate / one.low < 10 and one.high / one.estimate < 10)


def _below(said: Said, match: re.Match[str], told: Sequence[tuple[Row, Row, Interval]], least: int) -> None:
    """The sizes around the least that are below: the first, those for certain, the last."""
    limit = float(match[1])
    left, right = told[least::-1], told[least:]
    first = list(takewhile(lambda one: one[2].estimate < limit, left))[-1]
    certain, surely = (
        list(takewhile(lambda one: (one[2].high or math.inf) < limit, side))[-1] for side in (left, right)
    )
    last = list(takewhile(lambda one: one[2].estimate < limit, right))[-1]
    for group, (row, _, _) in ((2, first), (3, certain), (4, surely), (5, last)):
        if match[group]:
            said.size(match.span(group), row.bytes)
