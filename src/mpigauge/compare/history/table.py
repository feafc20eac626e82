"""A history as a document: the verdict, what changed since when, and how usual the last session is."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mpigauge.compare import sentences as compare_sentences
from mpigauge.compare.history import sentences as words
from mpigauge.compare.session_sentences import count_of
from mpigauge.document.cell_names import names_of
from mpigauge.document.document import DOT, Cases, Column, Document, Line, Table
from mpigauge.document.phrases import UNSAID
from mpigauge.document.records import cell_record, decision_record, finite_or_none, odd_records
from mpigauge.stats.splits import MIN_SESSIONS as CHANGES_FROM
from mpigauge.units import format_percent

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from mpigauge.compare.history.changes import Change
    from mpigauge.compare.history.history import History, Track
    from mpigauge.compare.history.sentences import HistoryLine
    from mpigauge.compare.history.session import SessionResult
    from mpigauge.compare.sentences import CellNaming
    from mpigauge.document.document import Tone, Units
    from mpigauge.rows.rows import Row
    from mpigauge.stats.decision import Decision
    from mpigauge.vocabulary import ComparisonVerdict

MAX_LINES = 20
"""Lines of the table, unless all are asked for."""

ORDER = ("lost", "slower", compare_sentences.MACHINE, "last session longer", "faster", "last session shorter")
TONES: dict[str, Tone] = {
    "lost": "bad",
    "slower": "bad",
    "faster": "good",
    **dict.fromkeys(
        (compare_sentences.MACHINE, "last session longer", "last session shorter", "may be slower"), "doubt"
    ),
}


def document(
    shown: History,
    chosen: Units,
    left_out: Sequence[tuple[SessionResult, Sequence[str]]],
    *,
    everything: bool = False,
) -> Document:
    """Return the verdict and the curves of a history as a document.

    Args:
        left_out: Sessions of other machines, with what differs.
        everything: Every curve on a line, in the order of the plan.
    """
    alike = compare_sentences.common(_rows(shown))
    names = compare_sentences.naming(frozenset(), _rows(shown))
    worst = ranked(shown)
    most = [*worst[:MAX_LINES], *_moved_controls(shown)]
    kept = [*_of(shown.tracks), *_of(shown.controls)] if everything else most
    left = max(0, len(worst) - MAX_LINES)
    rest = [f"{left} more: --all"] if left and not everything else []
    return Document(
        head=[
            words.headline(shown, shown.verdict, worst, names),
            DOT.join(_basis(shown, alike.items())),
        ],
        tables=[_table(shown, kept, names)] if kept else [],
        foot=[Line(text) for text in (*rest, *words.notes(shown, left_out))],
        units=chosen,
        schema="history",
        data=lambda: _data(shown, left_out),
        records=lambda: [*_records(shown)],
        cases=lambda: [_cases(shown, kept, names)] if kept else [],
    )


def ranked(shown: History) -> list[HistoryLine]:
    """Return the lines of all cells in which a library takes part, the worst first."""
    return sorted(_of(shown.tracks), key=_rank)


def _of(tracks: Iterable[Track]) -> list[HistoryLine]:
    return [line for track in tracks for line in words.lines_of(track)]


def _moved_controls(shown: History) -> list[HistoryLine]:
    return [line for line in _of(shown.controls) if line.change is not None or line.outside]


def _rank(line: HistoryLine) -> tuple[int, float]:
    word = words.verdict_of(line)
    known = line.factor or line.last
    far = abs(math.log(known.estimate)) if known is not None else 0.0
    return (ORDER.index(word) if word in ORDER else len(ORDER), -far)


def _rows(shown: History) -> Iterator[Row]:
    for track in shown.tracks:
        for cell in range(len(track.curve.cells)):
            yield track.curve.row(cell, len(shown.sessions))


def _basis(shown: History, alike: Collection[tuple[str, str]]) -> list[str]:
    """Return the sessions, what all cells have in common, and the margin as text."""
    margin, allow = format_percent(shown.thresholds.margin), format_percent(shown.thresholds.allow)
    count = len(shown.sessions)
    first, last = words.date(shown.sessions, 0), words.date(shown.sessions, count - 1)
    said = [phrase for _, phrase in alike if phrase not in UNSAID]
    over = f"{count_of(count)}, {first} to {last}" if count > 1 else f"1 session, {first}"
    return [over, *said, f"margin {margin}, allowed {allow}"]


def _table(shown: History, lines: Sequence[HistoryLine], names: CellNaming) -> Table:
    def changed(line: HistoryLine) -> str:
        return words.since_words(line.change, shown.sessions, line.worst) if line.change else ""

    return Table(
        "",
        "",
        lines,
        [
            Column("cell", "", lambda line: words.name(line, names), left=True, goes=None, wraps=True),
            Column("sizes", "size", words.sizes, left=True, goes=None, tells=True),
            Column("sessions", "sessions", lambda line: len(line.track.curve.sessions), "1", goes=1),
            Column("first_s", "first", lambda line: words.seconds(line, 0), "s", goes=3),
            Column("last_s", "last", lambda line: words.seconds(line, -1), "s", goes=4),
            Column(
                "last", "last session / before", lambda line: compare_sentences.ratio_words(line.last), goes=2
            ),
            Column("factor", "change", lambda line: compare_sentences.ratio_words(line.factor), goes=None),
            Column("since", "since", changed, left=True, goes=5),
            Column(
                "verdict",
                "",
                words.verdict_of,
                left=True,
                goes=None,
                tone=lambda line: TONES.get(words.verdict_of(line), ""),
            ),
        ],
    )


# ---- For programs --------------------------------------------------------------------------------


def _cases(shown: History, lines: Sequence[HistoryLine], names: CellNaming) -> Cases:
    """Return a table with a row per number, since lines group other numbers each time."""
    single = [replace(line, cells=[cell]) for line in lines for cell in line.cells]
    rows = [
        line.track.curve.row(line.cells[0], len(shown.sessions)) for line in single if line.track.curve.rows
    ]
    stable = iter(names_of([row.of for row in rows]))
    return Cases(
        _table(shown, single, names),
        [next(stable) if line.track.curve.rows else words.name(line, names) for line in single],
    )


def _data(shown: History, left_out: Sequence[tuple[SessionResult, Sequence[str]]]) -> dict[str, Any]:
    """Return the data of the document: docs/numbers-verbs.md#history."""
    return {
        "verdict": shown.verdict,
        "margin": shown.thresholds.margin,
        "allow": shown.thresholds.allow,
        "sessions": [_session(one) for one in shown.sessions],
        "odd_sessions": odd_records(shown.odd_sessions),
        "suspected": [*_suspected(shown)],
        "left_out": [{"file": str(one.path), "differs": [*differs]} for one, differs in left_out],
        "cells": [*_records(shown)],
        "controls": [one for track in shown.controls for one in _cells(shown, track)],
    }


def _suspected(shown: History) -> Iterator[dict[str, Any]]:
    """Yield what may have changed in sessions too few to tell, for programs."""
    for track in shown.tracks:
        if (step := track.suspected) is None:
            continue
        for cell in np.flatnonzero(step.changed):
            yield {
                **_cell(track, int(cell), len(shown.sessions)),
                "since_file": str(shown.sessions[step.place].path),
                "ratio": finite_or_none(float(np.exp(step.mean[cell]))),
                "sessions_more": CHANGES_FROM - len(shown.sessions),
            }


def _session(session: SessionResult) -> dict[str, Any]:
    return {
        "file": str(session.path),
        "begun_s": session.begun_s or None,
        "dated": session.is_dated,
        "versions": dict(session.versions),
    }


def _records(shown: History) -> Iterator[dict[str, Any]]:
    for track in shown.tracks:
        yield from _cells(shown, track)


def _cells(shown: History, track: Track) -> Iterator[dict[str, Any]]:
    said = {cell: words.verdict_of(line) for line in words.lines_of(track) for cell in line.cells}
    for cell in range(track.curve.logs.shape[1]):
        times = np.exp(track.curve.logs[:, cell])
        latest, low, high = track.latest(cell), *_band(track, cell)
        yield {
            **_cell(track, cell, len(shown.sessions)),
            "sign": track.curve.sign,
            "odd_files": [
                str(one.path) for one, odd in zip(shown.sessions, track.odd[:, cell], strict=True) if odd
            ],
            "times_s": [finite_or_none(float(time)) for time in times],
            "expected_low_s": low,
            "expected_high_s": high,
            "last": _decision(track.last.get(cell)),
            "changes": [_change(shown, change, cell) for change in track.changes if cell in change.cells],
            "verdict": _verdict(latest, cell),
            "said": said[cell],
        }


def _verdict(latest: Change | None, cell: int) -> ComparisonVerdict | None:
    """Return the verdict on the last change of a cell; None without one, which does not mean the same."""
    if latest is None:
        return None
    return "machine" if latest.machine else latest.cells[cell].verdict


def _cell(track: Track, cell: int, sessions: int) -> dict[str, Any]:
    return cell_record(track.curve.row(cell, sessions).cell) if track.curve.rows else {}


def _band(track: Track, cell: int) -> tuple[float | None, float | None]:
    """Return the times between which the last session was expected."""
    if track.base is None or cell not in track.base.cells:
        return None, None
    place = track.base.cells.index(cell)
    low, high = track.base.said.band()
    return finite_or_none(float(low[place])), finite_or_none(float(high[place]))


def _change(shown: History, change: Change, cell: int) -> dict[str, Any]:
    sessions: Sequence[SessionResult] = shown.sessions
    files: list[Path] = [sessions[place].path for place in (change.before, change.place)]
    return {
        "after_file": str(files[0]),
        "since_file": str(files[1]),
        "since_s": sessions[change.place].begun_s,
        "machine": change.machine,
        "drifts": change.drifts,
        "switches": [{"name": one.name, "before": one.before, "after": one.after} for one in change.switches],
        **(_decision(change.cells[cell]) or {}),
    }


def _decision(decision: Decision | None) -> dict[str, Any] | None:
    if decision is None:
        return None
    return {
        **decision_record(decision, "ratio", "low", "high", "bound", "p"),
        "sessions": decision.launches,
        "mdd": finite_or_none(decision.missed),
    }
