"""Posted texts with something wrong in them: no number that is not printed, no wrong unit, no traceback.

MPIGAUGE_MUTATIONS is how many there are, in place of 1000.
"""

from __future__ import annotations

import os
from collections import Counter
from random import Random
from typing import TYPE_CHECKING

import pytest

from tests.fuzz import foreign

if TYPE_CHECKING:
    from pathlib import Path

COUNT = int(os.environ.get("MPIGAUGE_MUTATIONS", "1000"))
PARTS = 20


def _wrong(seeds: range, folder: Path) -> list[tuple[int, str, str]]:
    read = ((seed, foreign.read(Random(seed), folder)) for seed in seeds)
    return [(seed, one.name, one.wrong) for seed, one in read if one.wrong]


@pytest.mark.parametrize("part", range(PARTS))
def test_no_damage_becomes_a_number_that_is_not_printed(part: int, tmp_path: Path) -> None:
    assert _wrong(range(part, COUNT, PARTS), tmp_path) == []


def test_some_texts_are_read_and_some_refused(tmp_path: Path) -> None:
    read = Counter(foreign.read(Random(seed), tmp_path).result is None for seed in range(100))
    assert min(read[True], read[False]) > 20


def test_unchanged_texts_hold_all_that_is_asked_of_changed_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(foreign, "MAX_CHANGES", 1)
    monkeypatch.setattr(foreign, "LINES", (lambda *_: None,))
    assert _wrong(range(300), tmp_path) == []


@pytest.mark.parametrize("unit", ["us", "MB/s"])
def test_a_unit_that_is_taken_for_another_would_be_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unit: str
) -> None:
    known = foreign.TIMES if unit in foreign.TIMES else foreign.RATES
    monkeypatch.delitem(known, unit)
    assert _wrong(range(100), tmp_path)
