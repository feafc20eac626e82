"""A warning is a check and a row of words: whatever lists warnings takes it from there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.find import findings
from mpigauge.find.findings import KINDS, doubt_lines, doubts_of
from mpigauge.find.kinds import Words
from mpigauge.find.warning_sentences import WORDS, WarningText, warning_findings, warning_kind
from mpigauge.rows.rows import rows
from mpigauge.rows.warnings import _CHECKS, Circumstances
from mpigauge.units import format_percent
from tests.made import campaign, cell, launches_of, measured, result_of

if TYPE_CHECKING:
    from collections.abc import Mapping

CELLS = [cell(size=size) for size in (8, 64)]


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A warning of every cell, the more so the longer it takes."""
    checks: Mapping[Any, Any] = _CHECKS
    words: Mapping[Any, Any] = WORDS
    kind: Any = "planted"

    def check(of: Circumstances) -> dict[str, float]:
        return {"share": of.estimate.estimate / 1e-3}

    def sentence(*, share: float) -> Words:
        return Words(f"planted, {format_percent(share)}", "it shows", "dig it out")

    monkeypatch.setitem(checks, "planted", check)
    text = WarningText(sentence, short="something planted", worst_by="share", format_worst=format_percent)
    monkeypatch.setitem(words, kind, text)
    monkeypatch.setattr(findings, "KINDS", (*KINDS, warning_kind(kind, text)))


@pytest.mark.usefixtures("planted")
def test_a_warning_that_is_added_is_said_wherever_warnings_are() -> None:
    numbers = range(1, 8)
    times_ns = {8: 100_000, 64: 200_000}
    visits = measured(CELLS, numbers, lambda of, number: [times_ns[of.bytes] + number] * 30)
    result = result_of(campaign(*CELLS), *launches_of(CELLS, numbers), *visits)
    found = rows(result)
    assert ["planted" in [one.kind for one in row.warnings] for row in found] == [True, True]

    (line,) = [line.text for line in doubt_lines(result, found) if line.text.startswith("planted")]
    assert "2 numbers, 5.0 % to 10 %" in line
    assert line.endswith("pingpong, 64 B: planted, 10 %: it shows; dig it out")

    (doubt,) = [one for one in doubts_of(result, found) if str(one.kind) == "planted"]
    assert doubt.line == "something planted: 2 of 2 numbers, e.g. pingpong, 8 B; it shows: dig it out"

    (first, _) = [one for one in warning_findings(found) if one.kind == "planted"]
    assert (first.severity, first.text) == ("warning", "planted, 5.0 %: it shows; dig it out")
    assert (first.consequence, first.remedy) == ("it shows", "dig it out")
