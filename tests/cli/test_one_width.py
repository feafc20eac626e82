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


def quadrature(factors: Iterable[float]) -> float:
    return math.exp(math.hypot(*map(math.log, factors)))


def widths(rows: Iterable[dict[str, Any]], name: str = "half_width") -> list[float]:
    return [row["time_s"][name] for row in rows if row["time_s"] and row["time_s"]["half_width"] is not None]


def assert_made_of_both_parts(time: dict[str, float] | None) -> None:
    """That of launches, and that of the machine, in quadrature."""
    if time and time["half_width"] is not None:
        parts = (1 + (time[name] or 0.0) for name in ("launches_half_width", "machine_half_width"))
        assert quadrature(parts) == pytest.approx(1 + time["half_width"])


@pytest.mark.parametrize("path", stored_results(), ids=name_of)
def test_every_count_is_that_of_the_printed_widths(cli: Cli, path: Path) -> None:
    document = json.loads(cli("show", "--format", "json", path).out)
    for row in document["rows"]:
        assert_made_of_both_parts(row["time_s"])
    precision = document["context"]["precision"]
    rows = [row for row in document["rows"] if row["pattern"] != "null"]
    wide = [row for row in rows if any(width > precision for width in widths([row]))]
    answer, everything = cli("show", path).out, cli("show", "--all", path).out
    timed = [row for row in rows if row["time_s"]]
    narrowed = narrowed_by_launches(document["findings"], precision)
    for asked, count, of, worst in COUNTED.findall(answer):
        assert asked == f"\N{PLUS-MINUS SIGN}{100 * precision:g} %"
        counted = narrowed if precision == PRECISION else widths(wide)
        assert (int(count), int(of)) == (len(counted), len(timed))
        assert worst == format_relative(max(counted))
    (precise,) = PRECISE.findall(everything)
    assert precise == (
        str(
            sum(
                row["launches"] >= ENOUGH_LAUNCHES and min(widths([row]), default=1) <= precision
                for row in rows
            )
        ),
        str(len(timed)),
        format_relative(precision),
    )
    for count, above, low, high, alone in REACH.findall(everything):
        assert int(count or 1) == len(wide)
        assert (low or alone, high or alone) == tuple(
            format_relative(end(widths(wide))) for end in (min, max)
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
    """Of an interval whose sides are not alike the larger one is printed, whatever the number counts."""
    asked = ("show", DOCS / "results" / f"{name}.jsonl.gz", "--state", "all")
    rows = json.loads(cli(*asked, "--format", "json").out)["rows"]
    known = {format_relative(width) for width in widths(rows)}
    printed = re.compile(r"\N{PLUS-MINUS SIGN}[\d.]+ %")
    for table in ("times", "rates"):
        found = printed.findall(cli(*asked, "--table", table).out)
        assert len(found) > 9
        assert {*found} <= known
