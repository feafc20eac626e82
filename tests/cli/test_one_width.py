"""The width beside a number is the width that is counted, marked and quoted, in every stored result."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.rows.warnings import PRECISION
from mpigauge.stats.limits import ENOUGH_LAUNCHES
from mpigauge.units import format_relative
from tests.places import DOCS
from tests.stored import name_of, stored_results

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tests.conftest import Cli

COUNTED = re.compile(
    r"^! (?:interval )?wider than (?:the )?(\S+ %)(?: asked for)?: (\d+) of (\d+) numbers, worst ([^;\n]*);",
    re.MULTILINE,
)
PRECISE = re.compile(r"^(\d+) of (\d+) numbers precise to (\S+ %)", re.MULTILINE)
REACH = re.compile(
    r"^imprecise: .*?(?:\((\d+) numbers, (just above )?(\S+ \S+) to (\S+ \S+)[,)]"
    r"|: the interval is (\S+ \S+),)",
    re.MULTILINE,
)
MOST_LAUNCHES = 30


def widths(rows: Iterable[dict[str, Any]], name: str = "half_width") -> list[float]:
    return [row["time_s"][name] for row in rows if row["time_s"] and row["time_s"]["half_width"] is not None]


def judged(rows: Iterable[dict[str, Any]]) -> list[float]:
    """The widths that are held against a precision: of an uneven interval its longer side."""
    found = []
    for row in rows:
        time = row["time_s"]
        if time and time["half_width"] is not None:
            sides = sorted((time["high"] / time["estimate"], time["estimate"] / time["low"]))
            uneven = math.log(sides[1]) > 3 * math.log(sides[0])
            found.append(sides[1] - 1 if uneven else time["half_width"])
    return found


def assert_made_of_both_parts(time: dict[str, float] | None) -> None:
    """At least as wide as that of the launches and as that of the machine, at most as both together."""
    if time and time["half_width"] is not None:
        assert time["half_width"] == pytest.approx(math.sqrt(time["high"] / time["low"]) - 1)
        parts = [math.log1p(time[name] or 0.0) for name in ("launches_half_width", "machine_half_width")]
        assert max(parts) - 1e-9 <= math.log1p(time["half_width"]) <= sum(parts) + 1e-9


@pytest.mark.parametrize("path", stored_results(), ids=name_of)
def test_every_count_is_that_of_the_printed_widths(cli: Cli, path: Path) -> None:
    document = json.loads(cli("show", "--format", "json", path).out)
    for row in document["rows"]:
        assert_made_of_both_parts(row["time_s"])
    precision = document["context"]["precision"]
    rows = [row for row in document["rows"] if row["pattern"] != "null"]
    wide = [row for row in rows if any(width > precision for width in judged([row]))]
    answer, everything = cli("show", path).out, cli("show", "--all", path).out
    timed = [row for row in rows if row["time_s"]]
    narrowed = narrowed_by_launches(document["findings"], precision)
    for asked, count, of, worst in COUNTED.findall(answer):
        assert asked == f"\N{PLUS-MINUS SIGN}{100 * precision:g} %"
        assert (int(count), int(of)) == (len(wide), len(timed))
        assert worst == format_relative(max(judged(wide)))
        assert precision != PRECISION or narrowed, "nobody asked, and nothing helps"
    (precise,) = PRECISE.findall(everything)
    assert precise == (
        str(
            sum(
                row["launches"] >= ENOUGH_LAUNCHES and min(judged([row]), default=1) <= precision
                for row in rows
            )
        ),
        str(len(timed)),
        format_relative(precision),
    )
    for count, above, low, high, alone in REACH.findall(everything):
        assert int(count or 1) == len(wide)
        assert (low or alone, high or alone) == tuple(
            format_relative(end(judged(wide))) for end in (min, max)
        )
        assert bool(above) == (low == format_relative(precision))


def narrowed_by_launches(findings: Iterable[dict[str, Any]], precision: float) -> list[float]:
    """Half-widths of numbers that more launches narrow, as many as are advised."""
    values = [one["value"] for one in findings if one["kind"] == "wide"]
    return [
        value["half_width"]
        for value in values
        if value["launches_half_width"] > precision and 0 < (value["launches_needed"] or 0) <= MOST_LAUNCHES
    ]


@pytest.mark.parametrize("name", ["exchange", "modes-lan"])
def test_tables_of_times_and_of_rates_have_the_same_width(cli: Cli, name: str) -> None:
    """Half the length of the interval is printed, whatever the number counts."""
    asked = ("show", DOCS / "results" / f"{name}.jsonl.gz", "--state", "all")
    rows = json.loads(cli(*asked, "--format", "json").out)["rows"]
    known = {format_relative(width) for width in widths(rows)}
    printed = re.compile(r"\N{PLUS-MINUS SIGN}[\d.]+ %")
    for table in ("times", "rates"):
        found = printed.findall(cli(*asked, "--table", table).out)
        assert len(found) > 9
        assert {*found} <= known
