"""A remedy that selects among what was measured, followed literally: every number stays and is surer."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from mpigauge.find.answer import answers, numbers_shown
from mpigauge.find.findings import doubt_lines
from mpigauge.importers.loading import load
from mpigauge.query.query import source_of
from mpigauge.stats.limits import ENOUGH_LAUNCHES
from tests.stored import name_of, stored_results

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.find.answer import Quote
    from mpigauge.query.query import Source
    from mpigauge.rows.group import Subject
    from tests.conftest import Cli

SELECTS = re.compile(r"--only quiet")


def quoted(source: Source) -> dict[tuple[str, Subject], Quote]:
    """All numbers of the first screen, the second one of a line, too."""
    quotes = [quote for one in answers(source.rows, source.patterns) for quote in one.quotes]
    shown = [one for quote in quotes for one in numbers_shown(quote)]
    return {(one.quoted_as, one.row.of): one for one in shown if one.half_width is not None}


def assert_what_is_offered_works(cli: Cli, path: Path) -> int:
    """On the first screen and below the tables; returns how often something was offered."""
    said = [line for line in cli("show", path).out.splitlines() if line.startswith("! ")]
    said += [line.text for line in doubt_lines(load(path), source_of(load(path), "median").rows)]
    offered = SELECTS.findall("\n".join(said))
    if offered:
        before = quoted(source_of(load(path), "median"))
        rows = {row.of: row for row in source_of(load(path), "median", "all", "quiet").rows}
        for (_, of), quote in before.items():
            after = replace(quote, row=rows[of])
            assert after.row.time is not None
            assert after.row.time.launches >= ENOUGH_LAUNCHES
            assert (after.half_width or 1.0) < (quote.half_width or 0.0)
    return len(offered)


@pytest.mark.parametrize("path", stored_results(), ids=name_of)
def test_what_is_offered_works_on_this_result(cli: Cli, path: Path) -> None:
    assert_what_is_offered_works(cli, path)
